"""The dashboard for the first page of the admin."""

from django import template

from gateway import dashboard
from gateway.dashboard import Board

register = template.Library()


@register.simple_tag
def staff_board() -> Board:
    """What staff should see first."""
    return dashboard.current()

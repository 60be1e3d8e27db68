"""The commands as a platform's own menu, in each of our languages, from the one table ([T5])."""

from django.conf import settings
from django.utils.translation import gettext, override

from gateway.commands import COMMANDS


def menus() -> dict[str, tuple[tuple[str, str], ...]]:
    """For each language of ours, by its code, the commands with what each does."""
    found = {}
    for code, _ in settings.LANGUAGES:
        with override(code):
            found[code] = tuple((spec.name, gettext(spec.summary)) for spec in COMMANDS)
    return found

"""Pages for staff: what came in, who may speak, whose turn it is."""

from django.contrib import admin

from gateway.admin import (
    access,
    accounts,
    chats,
    conversations,
    identity,
    inbound,
    media,
    prompts,
    schedule,
    turns,
)

__all__ = [
    "access",
    "accounts",
    "chats",
    "conversations",
    "identity",
    "inbound",
    "media",
    "prompts",
    "schedule",
    "turns",
]

admin.site.site_header = admin.site.site_title = "Hermes Gateway"
admin.site.index_title = "Operations"

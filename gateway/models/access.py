"""Who may speak, and the record of who decided what."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from typing_extensions import override

from clarify.risks import RiskLevel
from gateway.roles import Role


class AllowEntry(models.Model):
    """A person, or everybody, who may reach the agent; empty fields match anything.

    Ids are the platform's stable ids, never display names.
    """

    platform = models.CharField(max_length=32)
    account = models.CharField(
        max_length=64, blank=True, help_text="Only through this account. Empty: through any."
    )
    scope_id = models.CharField(
        "workspace", max_length=255, blank=True, help_text="Only in this one. Empty: in any."
    )
    chat_id = models.CharField(
        "chat's id", max_length=255, blank=True, help_text="Only in this chat. Empty: in any."
    )
    user_id = models.CharField(
        "person's id",
        max_length=255,
        blank=True,
        help_text="They read it when they write to the bot. Empty: everybody in the chat below.",
    )
    role = models.CharField(
        max_length=10,
        choices=[(role.value, role.value) for role in Role],
        default=Role.MEMBER.value,
        help_text="A viewer only reads how things stand; an approver also decides what the agent"
        " may do for others; an admin lets others in.",
    )
    approves_up_to = models.CharField(
        "approves up to",
        max_length=8,
        blank=True,
        choices=[(level.value, level.value) for level in RiskLevel],
        help_text="The highest risk they may approve. Empty: that of the role.",
    )
    commands = models.CharField(
        "these commands only",
        max_length=200,
        blank=True,
        help_text="Names with spaces between them: status help. The entry is then good for these"
        " and for no plain words. Empty: all that the role has.",
    )
    tools_up_to = models.CharField(
        "agent may do up to",
        max_length=8,
        blank=True,
        choices=[(level.value, level.value) for level in RiskLevel],
        help_text="The highest risk of what the agent may do for them, approved or not."
        " Empty: any.",
    )
    is_for_bot = models.BooleanField(
        "this is a bot",
        default=False,
        help_text="Messages of this bot may begin turns, a few in a row until a person speaks.",
    )
    note = models.CharField(max_length=200, blank=True, help_text="Who that is, for staff.")
    from_environment = models.BooleanField("kept by the environment", default=False, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, editable=False
    )

    class Meta:
        verbose_name = "allowlist entry"
        verbose_name_plural = "allowlist"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["platform", "account", "scope_id", "chat_id", "user_id", "commands"],
                name="one_allow_entry",
            ),
        ]

    @override
    def __str__(self) -> str:
        who = self.user_id or "everybody"
        return (
            f"{self.platform}: {who} in chat {self.chat_id}"
            if self.chat_id
            else f"{self.platform}: {who}"
        )


class AuditEvent(models.Model):
    """A decision about access or a staff action ([A7]).

    Rows are only ever added; the one of a denial counts what was denied again within its hour.
    """

    at = models.DateTimeField(db_index=True)
    actor = models.CharField(
        max_length=255, help_text="Who did it: staff, a person, or the system."
    )
    action = models.CharField(max_length=64, db_index=True)
    subject = models.CharField(max_length=255, blank=True, help_text="What it was done to.")
    detail = models.JSONField(default=dict, blank=True)
    times = models.PositiveIntegerField(default=1, help_text="How often, from then on.")
    last_at = models.DateTimeField("last", null=True, blank=True, help_text="When it came again.")

    class Meta:
        verbose_name = "audit entry"
        verbose_name_plural = "audit log"
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            # audit.count: was this denied lately
            models.Index(fields=["subject", "action", "at"], name="audit_by_subject"),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.action} by {self.actor}"

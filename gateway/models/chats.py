"""How the gateway behaves in a chat, as staff set it."""

from typing import ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from typing_extensions import override

from gateway.rules import BusyMode, Histories, Reset, Rules
from gateway.zones import is_time_zone

HISTORIES = [
    (Histories.PERSON.value, "each person has their own history"),
    (Histories.SHARED.value, "everybody shares one history"),
]
BUSY = [
    (BusyMode.QUEUE.value, "queue: each is a turn of its own, in order"),
    (BusyMode.COLLECT.value, "collect: all of them become one next turn"),
    (BusyMode.STEER.value, "steer: the running turn is given them"),
    (BusyMode.INTERRUPT.value, "interrupt: the running turn is stopped for them"),
]
RESETS = [
    (Reset.NONE.value, "never"),
    (Reset.IDLE.value, "after a time without a word"),
    (Reset.DAILY.value, "every day at an hour"),
]


class ChatPolicy(models.Model):
    """How the gateway behaves in one chat or thread, in an account, or everywhere ([S3]).

    What is left empty is inherited: a thread from its chat, a chat from its account, an account
    from the settings for everywhere.
    """

    account = models.CharField(
        max_length=64, blank=True, help_text="The account's name. Empty: every account."
    )
    chat_id = models.CharField(
        "chat's id", max_length=255, blank=True, help_text="Empty: every chat of the account."
    )
    thread_id = models.CharField(
        "thread's id", max_length=255, blank=True, help_text="Empty: the chat and all its threads."
    )
    note = models.CharField(max_length=200, blank=True, help_text="What it is for.")
    groups = models.CharField(
        "in groups",
        max_length=8,
        blank=True,
        choices=HISTORIES,
        help_text="Usually each person has their own. A change mixes nothing: people go on in the"
        " history that the new setting gives them, and find the old one when it is set back.",
    )
    threads = models.CharField(
        "in threads",
        max_length=8,
        blank=True,
        choices=HISTORIES,
        help_text="Usually everybody in a thread shares one.",
    )
    busy = models.CharField(
        "messages during a turn",
        max_length=10,
        blank=True,
        choices=BUSY,
        help_text="Usually: queue.",
    )
    reset = models.CharField(
        "a session ends",
        max_length=8,
        blank=True,
        choices=RESETS,
        help_text="Usually never; /new always begins another.",
    )
    idle_minutes = models.PositiveIntegerField(
        "minutes without a word", null=True, blank=True, help_text="Usually 1440, which is a day."
    )
    hour = models.PositiveSmallIntegerField(
        "hour of the day",
        null=True,
        blank=True,
        validators=[MaxValueValidator(23)],
        help_text="0 to 23; usually 4.",
    )
    time_zone = models.CharField(
        max_length=64, blank=True, help_text="Of that hour, e.g. Asia/Tehran. Empty: the site's."
    )
    fresh_final_seconds = models.PositiveIntegerField(
        "a new message for the answer after",
        null=True,
        blank=True,
        help_text="Seconds. An answer whose live message was watched for longer comes as a new"
        " message, of which people are notified, and the live one is deleted. 0: always. Empty:"
        " the live message becomes the answer.",
    )
    stop_suspends = models.BooleanField(
        "/stop ends the session",
        null=True,
        blank=True,
        help_text="After /stop the next message begins another session.",
    )
    model = models.CharField(
        max_length=200, blank=True, help_text="The model that is asked there. Empty: the usual one."
    )
    system_prompt = models.TextField(
        "instructions",
        blank=True,
        help_text="What the agent is told there, in place of the usual instructions.",
    )

    class Meta:
        verbose_name = "chat setting"
        ordering: ClassVar = ["account", "chat_id", "thread_id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["account", "chat_id", "thread_id"], name="one_policy_a_place"
            ),
        ]

    @override
    def __str__(self) -> str:
        words = [self.account or "everywhere"]
        words += [f"chat {self.chat_id}"] if self.chat_id else []
        words += [f"thread {self.thread_id}"] if self.thread_id else []
        return ", ".join(words)

    @override
    def clean(self) -> None:
        """Refuse what could never apply."""
        wrong = {}
        if self.chat_id and not self.account:
            wrong["account"] = "Name the account as well: ids of chats mean nothing without it."
        if self.thread_id and not self.chat_id:
            wrong["chat_id"] = "Name the chat that the thread is in."
        if self.time_zone and not is_time_zone(self.time_zone):
            wrong["time_zone"] = "There is no such time zone; write it like Europe/Berlin."
        if wrong:
            raise ValidationError(wrong)

    @property
    def rules(self) -> Rules:
        """The same as plain values."""
        return Rules(
            groups=Histories(self.groups) if self.groups else None,
            threads=Histories(self.threads) if self.threads else None,
            busy=BusyMode(self.busy) if self.busy else None,
            reset=Reset(self.reset) if self.reset else None,
            idle_minutes=self.idle_minutes,
            hour=self.hour,
            time_zone=self.time_zone,
            fresh_final_seconds=self.fresh_final_seconds,
            stop_suspends=self.stop_suspends,
            model=self.model,
            system_prompt=self.system_prompt,
        )


class HomeChannel(models.Model):
    """Where an account's scheduled results and other unasked-for messages go."""

    account = models.CharField(max_length=64, unique=True)
    address = models.JSONField(help_text="As addresses are written everywhere.")
    set_by = models.CharField(max_length=255)
    set_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["account"]

    @override
    def __str__(self) -> str:
        return f"home of {self.account}"

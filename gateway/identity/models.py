"""Pairings, links and what was guessed; written by this app alone."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from typing_extensions import override

from clarify.risks import RiskLevel
from delivery.addresses import Address
from gateway.identity.states import LinkState, PairingState
from gateway.roles import Role

ROLES = [(role.value, role.value) for role in Role]


class Pairing(models.Model):
    """One person who asked one account to be let in, and what became of it ([A2])."""

    platform = models.CharField(max_length=32)
    account = models.CharField(max_length=64)
    user_id = models.CharField("person's id", max_length=255)
    user_alt = models.CharField(
        "stable id", max_length=255, blank=True, help_text="Of the same person, where there is one."
    )
    user_name = models.CharField(
        "called", max_length=255, blank=True, help_text="As they call themselves: no proof of it."
    )
    address = models.JSONField(default=dict, help_text="Where they are told.")
    state = models.CharField(
        max_length=8,
        choices=[(state.value, state.value) for state in PairingState],
        default=PairingState.ASKED.value,
    )
    reason = models.CharField(max_length=200, blank=True, help_text="Why it came to nothing.")
    code_hash = models.CharField(max_length=64, blank=True, editable=False)
    asked_at = models.DateTimeField(help_text="When they were given the code.")
    expires_at = models.DateTimeField(help_text="Until when the code counts.")
    seen_at = models.DateTimeField(
        null=True, blank=True, help_text="When staff first saw that they ask."
    )
    wrong_tries = models.PositiveSmallIntegerField(
        default=0, help_text="Wrong codes that were entered meanwhile."
    )
    hour_from = models.DateTimeField(help_text="Since when codes are counted.")
    codes_in_hour = models.PositiveSmallIntegerField(default=0)
    role = models.CharField(max_length=10, choices=ROLES, default=Role.MEMBER.value)
    approves_up_to = models.CharField(
        max_length=8, blank=True, choices=[(level.value, level.value) for level in RiskLevel]
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=255, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["platform", "account", "user_id"], name="one_pairing_a_person"
            ),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in PairingState]),
                name="pairing_state_known",
            ),
        ]
        indexes: ClassVar = [
            # pairings_of: whoever writes to us
            models.Index(fields=["platform", "user_id"], name="pairings_by_person"),
            models.Index(
                fields=["user_alt"], condition=~Q(user_alt=""), name="pairings_by_stable_id"
            ),
            # waiting: who asks at this moment
            models.Index(
                fields=["account", "asked_at"],
                condition=Q(state=PairingState.ASKED.value),
                name="pairings_asked",
            ),
            models.Index(fields=["code_hash"], name="pairings_by_code"),
        ]

    @override
    def __str__(self) -> str:
        name = f"{self.user_name} " if self.user_name else ""
        return f"{name}[{self.user_id}] on {self.account}"

    @property
    def destination(self) -> Address:
        """Where the person is told."""
        return Address.from_dict(self.address)


class StrangerPolicy(models.Model):
    """How one account meets people whom it does not know."""

    account = models.SlugField(max_length=64, unique=True, help_text="The account's name.")
    pairing = models.BooleanField(
        default=True,
        help_text="A stranger who writes in private is given a code for you to approve. Otherwise"
        " they read their id only.",
    )
    most_waiting = models.PositiveSmallIntegerField(
        "most waiting",
        null=True,
        blank=True,
        help_text="How many codes wait at most; another stranger's takes the place of the oldest."
        " Empty: HERMES_PAIRING_WAITING.",
    )

    class Meta:
        verbose_name = "rule for strangers"
        verbose_name_plural = "rules for strangers"

    @override
    def __str__(self) -> str:
        return f"{self.account}: {'pairing' if self.pairing else 'no pairing'}"


class Link(models.Model):
    """One person who is two identities, as they have proved from both sides ([A5])."""

    state = models.CharField(
        max_length=8,
        choices=[(state.value, state.value) for state in LinkState],
        default=LinkState.ASKED.value,
    )
    code_hash = models.CharField(
        max_length=64, blank=True, editable=False, help_text="Of the code that is awaited next."
    )
    wrong_tries = models.PositiveSmallIntegerField(default=0)
    shares = models.BooleanField(
        "one history",
        default=False,
        help_text="Their private chats on both sides go on with the same history.",
    )
    asked_at = models.DateTimeField()
    expires_at = models.DateTimeField(help_text="Until when its codes count.")
    linked_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.CharField(max_length=255, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in LinkState]),
                name="link_state_known",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["code_hash"], name="links_by_code")]

    @override
    def __str__(self) -> str:
        return " and ".join(str(end) for end in self.ends.all()) or f"link {self.pk}"


class LinkEnd(models.Model):
    """One of the two identities of a link, with the place where it was proved."""

    link = models.ForeignKey(Link, on_delete=models.CASCADE, related_name="ends")
    is_first = models.BooleanField(help_text="It asked for the link.")
    platform = models.CharField(max_length=32)
    account = models.CharField(max_length=64)
    scope_id = models.CharField("workspace", max_length=255, blank=True)
    user_id = models.CharField("person's id", max_length=255)
    user_alt = models.CharField("stable id", max_length=255, blank=True)
    user_name = models.CharField("called", max_length=255, blank=True)
    address = models.JSONField(help_text="The private chat in which its code was shown or entered.")
    message_id = models.CharField(
        max_length=255, blank=True, help_text="The message with which it was proved."
    )
    proved_at = models.DateTimeField(
        null=True, blank=True, help_text="When it entered a code that only the other side had read."
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["link", "is_first"], name="two_ends_a_link"),
        ]
        indexes: ClassVar = [
            # linked_with: whoever speaks
            models.Index(fields=["platform", "user_id"], name="link_ends_by_person"),
        ]

    @override
    def __str__(self) -> str:
        name = f"{self.user_name} " if self.user_name else ""
        return f"{name}[{self.user_id}] on {self.platform}"

    @property
    def destination(self) -> Address:
        """The private chat with this identity."""
        return Address.from_dict(self.address)


class Tries(models.Model):
    """How many wrong codes somebody entered within an hour."""

    person = models.CharField(max_length=400, unique=True)
    since = models.DateTimeField()
    count = models.PositiveSmallIntegerField(default=0)

    class Meta:
        verbose_name = "wrong tries"
        verbose_name_plural = "wrong tries"

    @override
    def __str__(self) -> str:
        return f"{self.person}: {self.count}"

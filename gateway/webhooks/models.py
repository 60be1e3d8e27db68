"""Endpoints for signed webhooks, and what came to them."""

from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from typing_extensions import override

from gateway.platforms.webhook.schemes import TITLES, Kind, Rule
from gateway.platforms.webhook.wire import Sources


class Goal(models.TextChoices):
    """Where the answers of an endpoint's turns go."""

    NONE = "none", "nowhere: they can be read here"
    HOME = "home", "the home channel of an account"
    CHAT = "chat", "a chat of an account"
    WEBHOOK = "webhook", "a receiver of webhooks, which is an account"


ABOVE_ALL = "Only for “HMAC in a header”"
NAME_HELP = "An endpoint's name is made of letters (a to z), digits, - and _, without spaces."


class Endpoint(models.Model):
    """A place of this site that one sender posts its events to."""

    name = models.SlugField(
        max_length=40,
        unique=True,
        help_text="Part of its address: letters (a to z), digits, - and _.",
        error_messages={"invalid": NAME_HELP},
    )
    scheme = models.CharField(
        max_length=8,
        choices=[(kind.value, title) for kind, title in TITLES.items()],
        default=Kind.STANDARD.value,
        help_text="How the sender proves that a request is its own.",
    )
    is_enabled = models.BooleanField("enabled", default=True, editable=False)
    secret = models.TextField(editable=False, help_text="Encrypted.")
    former_secret = models.TextField(blank=True, editable=False, help_text="Encrypted.")
    former_until = models.DateTimeField(
        "former secret until",
        null=True,
        blank=True,
        editable=False,
        help_text="Until then the secret before the present one counts as well.",
    )
    signature_header = models.CharField(
        max_length=80,
        default="X-Signature",
        help_text=f"{ABOVE_ALL}: the header with the signature.",
    )
    signature_prefix = models.CharField(
        max_length=20,
        blank=True,
        help_text=f"{ABOVE_ALL}: what stands before the signature in it, such as sha256= or v1=.",
    )
    encoding = models.CharField(
        max_length=6,
        choices=[("hex", "hexadecimal"), ("base64", "base64")],
        default="hex",
        help_text=f"{ABOVE_ALL}: how the signature is written.",
    )
    timestamp_from = models.CharField(
        "time in",
        max_length=80,
        blank=True,
        help_text=f"{ABOVE_ALL}: the header with the time in seconds that is signed as"
        " {time}.{body}; or the label before it in the signature's header, such as t=. Empty: no"
        " time is signed, and whoever once read a request can send it again.",
    )
    id_from = models.CharField(
        "event id in",
        max_length=80,
        blank=True,
        default="X-Request-Id",
        help_text="For “HMAC in a header” and “bearer token”: the header with the sender's id of"
        " the event, or a path in the body that begins with a dot, such as .data.id. It must be"
        " the same whenever the sender tries the same event again.",
    )
    needs_id = models.BooleanField(
        "only with an id",
        default=False,
        help_text="Refuse what has no event id. Otherwise each such request is an event of its"
        " own, also when the sender tries again.",
    )
    event_from = models.CharField(
        "kind of event in",
        max_length=80,
        blank=True,
        help_text="For Standard Webhooks (usually .type), “HMAC in a header” and “bearer token”:"
        " a header, or a path in the body that begins with a dot.",
    )
    events = models.TextField(
        blank=True,
        help_text="Which kinds of events begin a turn, one a line, * for anything: push,"
        " pull_request.*. Empty: all of them.",
    )
    template = models.TextField(
        blank=True,
        help_text="What the agent is told of an event. Fields of the body stand in braces:"
        " {{ repository.full_name }}, {{ commits.0.message }}; beside them there are"
        " {{ @endpoint }}, {{ @event }}, {{ @id }} and {{ @body }}. Empty: the whole body.",
    )
    goal = models.CharField("answers go to", max_length=7, choices=Goal, default=Goal.NONE)
    account = models.CharField(
        max_length=64, blank=True, help_text="Whose bot says it, or which receiver is told."
    )
    chat_id = models.CharField(
        "chat's id", max_length=255, blank=True, help_text="For a chat of an account."
    )
    thread_id = models.CharField(
        "thread's id", max_length=255, blank=True, help_text="For a chat of an account."
    )
    shares_history = models.BooleanField(
        "remembers its last events",
        default=False,
        help_text="Its events are then handled one after another. Otherwise each begins with an"
        " empty history, and many run side by side.",
    )
    tolerance = models.PositiveIntegerField(
        "seconds of difference",
        default=300,
        validators=[MinValueValidator(10), MaxValueValidator(3600)],
        help_text="How far a signed time may lie from our clock.",
    )
    per_minute = models.PositiveIntegerField(
        "events a minute",
        default=600,
        help_text="More are refused with 429 for as long as it takes. 0: any number.",
    )
    max_bytes = models.PositiveIntegerField(
        "largest body",
        default=1_048_576,
        validators=[MinValueValidator(256), MaxValueValidator(26_214_400)],
        help_text="In bytes. GitHub's bodies may have 25 MB; most have a few kB.",
    )
    last_refusal = models.CharField(max_length=500, blank=True, editable=False)
    last_refused_at = models.DateTimeField("last refused", null=True, blank=True, editable=False)
    created_at = models.DateTimeField(editable=False)

    shown_once = ""  # no column: a secret that was just made, for the page that shows it

    class Meta:
        ordering: ClassVar = ["name"]

    @override
    def __str__(self) -> str:
        return self.name

    @property
    def kind(self) -> Kind:
        """Its scheme."""
        return Kind(self.scheme)

    @property
    def rule(self) -> Rule:
        """What it expects of a request."""
        return Rule(
            kind=self.kind,
            tolerance=self.tolerance,
            signature_header=self.signature_header,
            prefix=self.signature_prefix,
            encoding=self.encoding,
            timestamp_from=self.timestamp_from,
        )

    @property
    def sources(self) -> Sources:
        """Where it finds what names an event."""
        return Sources(event_id=self.id_from, event=self.event_from)


class Outcome(models.TextChoices):
    """What became of an event."""

    TURN = "turn", "began a turn"
    IGNORED = "ignored", "was not one of those that begin a turn"


class Receipt(models.Model):
    """One event that was taken, so that it is taken once."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="receipts")
    event_id = models.CharField(max_length=200, help_text="The sender's id, or one of ours.")
    event = models.CharField("kind", max_length=120, blank=True)
    outcome = models.CharField(max_length=7, choices=Outcome)
    turn = models.ForeignKey(
        "gateway.Turn", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    size = models.PositiveIntegerField(help_text="Of the body, in bytes.")
    received_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            # However often the sender tries, and whatever races: an event is taken once.
            models.UniqueConstraint(fields=["endpoint", "event_id"], name="one_receipt_an_event"),
        ]
        indexes: ClassVar = [
            # receiving: how many came within the last minute
            models.Index(fields=["endpoint", "-received_at"], name="receipts_lately"),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.event or 'event'} {self.event_id}"

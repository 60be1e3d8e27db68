"""What the gateway needs from a platform and from an agent. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import BinaryIO, Protocol, runtime_checkable

from delivery.addresses import Address
from delivery.content import Limit
from delivery.ports import Certainty, Dialect, OutgoingPart, Outlet, Rates, Receipt, Transport
from gateway.fetching.limits import Limits, Meter
from gateway.messages import Batch, ButtonPress, Form, Inbound


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a platform can do; everything above the adapter decides by these, never by its name."""

    limit: Limit
    certainty: Certainty
    threads: bool = False
    editing: bool = False
    typing: bool = False
    buttons: bool = False
    multi_select: bool = False
    modals: bool = False
    reactions: bool = False
    images: bool = False
    files: bool = False
    file_links: bool = False  # people there can open pages of ours: a file is a link
    voice: bool = False
    native_markdown: bool = False
    max_caption_length: int = 0
    max_file_bytes: int = 0
    max_photo_bytes: int = 0
    max_buttons: int = 0
    callback_data_bytes: int = 0
    toasts: bool = True  # a press can be answered with a notice that goes away by itself
    threads_hang: bool = False  # a thread stands below a message, and is no room of its own
    shows_queue: bool = False  # people there see what is queued, without being told
    shows_at_once: bool = False  # what is recorded is seen, before anything is sent
    groups_need_reply: bool = False  # there it may hear only what mentions it or replies to it
    minimum_edit_interval: timedelta = timedelta(seconds=1)
    group_edit_interval: timedelta = timedelta(seconds=1)  # where several people are notified
    typing_period: timedelta = timedelta(seconds=4)


@dataclass(frozen=True, kw_only=True)
class BotIdentity:
    """Who the account is on its platform."""

    user_id: str
    user_name: str


@dataclass(frozen=True, kw_only=True)
class AccountConfig:
    """What an adapter is built from.

    Attributes:
        slug: The account's name in this installation.
        secret: The credential, in clear; never logged, never shown.
        options: The platform's own settings (`api_base_url`, `proxy`, …), as text.
    """

    slug: str
    secret: str = field(repr=False)
    options: dict[str, str]


class Adapter(Transport, Protocol):
    """Both directions of one account. Raises only `delivery.errors.TransportError`."""

    async def connect(self) -> BotIdentity:
        """Open connections, check the credential, and learn who we are.

        Raises:
            AuthenticationRefused: The credential is wrong; trying again will not help.
            NetworkDown: The platform cannot be reached now.
        """
        ...

    async def disconnect(self) -> None:
        """Close everything that `connect` opened; safe to call twice and after a failure."""
        ...

    async def receive(self, cursor: str) -> Batch:
        """Wait for news.

        Args:
            cursor: Where the stored events end; empty at the very first call.

        Returns:
            What came in since `cursor`, and the new cursor. It may be empty after a quiet while.

        Raises:
            NetworkDown, RateLimited: Try again later from the same cursor; nothing is lost.
            AuthenticationRefused: Stop the account.
        """
        ...

    async def acknowledge(self, press: ButtonPress, *, text: str, alert: bool) -> None:
        """Answer a button press with a short notice only the presser sees.

        Args:
            press: The press being answered.
            text: What they read; may be empty.
            alert: Show it as a box to be closed rather than as a passing notice.
        """
        ...


@runtime_checkable
class GivesFiles(Protocol):
    """An adapter through which the files of messages can be fetched."""

    async def fetch(self, file_id: str, meter: Meter, limits: Limits) -> None:
        """Fetch one file.

        Args:
            file_id: What the platform called it in the message.
            meter: Takes the pieces in order, and raises when they are too many.
            limits: How much and how long.

        Raises:
            FetchError: There is no file; the sentence is for the person who sent it.
            TransportError: The platform refused the call or cannot be reached.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class OutgoingFile:
    """A file that goes with a message: its bytes, or what the platform calls it already.

    Attributes:
        form: `photo`, `voice`, `audio`, `video` or `document`.
        name: What people see.
        mime_type: By its first bytes.
        remote_id: The platform has it from before under this id; then there is no `content`.
        content: The bytes, open at their beginning; the caller closes it.
    """

    form: str
    name: str
    mime_type: str
    remote_id: str = ""
    content: BinaryIO | None = None


@runtime_checkable
class TakesFiles(Protocol):
    """An adapter that sends files."""

    async def send_file(self, part: OutgoingPart, file: OutgoingFile) -> Receipt:
        """Send one new message with a file; the words of `part` are its caption.

        Returns:
            The receipt, with the id under which the platform has the file from now on.

        Raises:
            Refused: It does not take the file in this form, or does not know the id.
            TransportError: As `Transport.send`.
        """
        ...


@runtime_checkable
class ShowsHeard(Protocol):
    """An adapter that can put a small sign on a message instead of writing one (`reactions`)."""

    async def show_heard(self, address: Address, message_id: str) -> None:
        """Show on a person's message that it was heard and waits.

        Raises:
            TransportError: It could not be shown; nobody is told.
        """
        ...


@runtime_checkable
class OpensForms(Protocol):
    """An adapter that can answer a press with a form; what is typed comes in as a message."""

    async def open_form(self, press: ButtonPress, form: Form) -> None:
        """Show `form` to whoever pressed.

        What they send comes in as an `InboundMessage` from the place of the press that quotes the
        message with the button.

        Raises:
            TransportError: It could not be shown; the invitation has to be words then.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Request:
    """An HTTP request to the address of an account.

    Attributes:
        headers: By their names in lower case.
        body: As it was sent: signatures are over these very bytes.
        at: When it came; aware.
    """

    headers: Mapping[str, str]
    body: bytes
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a request is answered, once what it told is stored.

    Attributes:
        status: The HTTP status; from 400 on nothing was told, and `body` says why.
        body: Words, or JSON.
        content_type: Of the body.
        events: What was told.
    """

    status: int = 200
    body: str = ""
    content_type: str = "application/json"
    events: tuple[Inbound, ...] = ()


@runtime_checkable
class HearsRequests(Protocol):
    """A platform that tells us things in HTTP requests, at `/in/<account>`."""

    def hear(self, config: AccountConfig, bot_id: str, request: Request) -> Answer:
        """What a request says; pure, and it never raises.

        Args:
            config: The account it came to.
            bot_id: Who the account is there; empty before it has ever been connected.
            request: The request; whether it is the platform's is to be proved.
        """
        ...


class Platform(Protocol):
    """One platform as the registry knows it: pure facts, and how to open a connection."""

    kind: str
    title: str
    capabilities: Capabilities
    dialect: Dialect

    def build_adapter(self, config: AccountConfig) -> Adapter:
        """An adapter for one account; it opens nothing until `connect`."""
        ...

    def rates(self, config: AccountConfig) -> Rates:
        """How much an account may send; what the platform says beyond that is obeyed anyway."""
        ...

    def problems(self, config: AccountConfig) -> list[str]:
        """What is wrong with an account's name, credential and options, as far as can be told now.

        Returns:
            One sentence a problem, each saying what to do; none if all is well. An option that the
            platform does not know is a problem. The credential is never quoted.
        """
        ...

    def problem_with_user_id(self, text: str) -> str:
        """Why `text` cannot be the id of a person here, and what can; empty if it can be one."""
        ...


def outlet_of(platform: Platform) -> Outlet:
    """What delivery must know of `platform`."""
    capabilities = platform.capabilities
    return Outlet(
        dialect=platform.dialect,
        certainty=capabilities.certainty,
        supports_editing=capabilities.editing,
        supports_buttons=capabilities.buttons,
        typing_period=capabilities.typing_period,
        minimum_edit_interval=capabilities.minimum_edit_interval,
        group_edit_interval=capabilities.group_edit_interval,
        shows_at_once=capabilities.shows_at_once,
        groups_need_reply=capabilities.groups_need_reply,
        supports_forms=capabilities.modals,
        threads_hang=capabilities.threads_hang,
    )

"""What can go wrong on the way out, named for what the caller does next.

DeliveryError
├── TransportError                 the platform's word on one call
│   ├── NotSent                    certainly not accepted: try again later
│   │   ├── NetworkDown            the request never left, or was refused before it was read
│   │   ├── RateLimited            wait `retry_after` seconds
│   │   └── AuthenticationRefused  the account's credential is wrong: stop the account
│   ├── OutcomeUnknown             sent, no answer: it may have arrived
│   └── Refused                    certainly not accepted, and never will be as it is
│       ├── DestinationGone        blocked, kicked, deleted: mark the destination dead
│       ├── DestinationMoved       the chat has a new id: send there
│       ├── ThreadGone             fall back to the parent chat, once, visibly
│       ├── AnchorGone             fall back to no reply anchor
│       ├── MessageGone            the message to edit is not there: send a fresh one
│       ├── TooOld                 the platform no longer lets this message be changed
│       ├── FormattingRefused      send the plain text instead
│       └── Unsupported            this platform has no such operation
├── LeaseLost                      another process owns this now: do nothing more
├── IllegalTransition              the state table has no such step
├── LedgerUnavailable              the debt could not be written down: fail loudly
└── UnknownPlatform                no platform is registered under that name
"""


class DeliveryError(Exception):
    """The root of everything this app raises on purpose."""


class TransportError(DeliveryError):
    """The platform's word on one call.

    Args:
        detail: One sentence for staff; no secret and no message text in it.
        code: The platform's own error code, as text; empty where it gave none.
    """

    def __init__(self, detail: str = "", *, code: str = "") -> None:
        super().__init__(detail or type(self).__doc__ or type(self).__name__)
        self.detail = detail
        self.code = code


class NotSent(TransportError):
    """The platform certainly did not accept it; the same call may work later."""


class NetworkDown(NotSent):
    """The platform could not be reached, or said it is not serving now (5xx before reading)."""


class RateLimited(NotSent):
    """The platform asks us to wait.

    Args:
        detail: One sentence for staff.
        retry_after: Seconds to wait, as the platform said; at least 0.
        scope: What the limit covers: `chat`, `account`, `method` or `media`.
        code: The platform's own error code.
    """

    def __init__(
        self, detail: str = "", *, retry_after: float, scope: str = "chat", code: str = "429"
    ) -> None:
        super().__init__(detail, code=code)
        self.retry_after = max(0.0, retry_after)
        self.scope = scope


class AuthenticationRefused(NotSent):
    """The account's credential is refused; nothing will go out until staff mend it."""


class OutcomeUnknown(TransportError):
    """The request was sent and no answer came back: the message may have arrived."""


class Refused(TransportError):
    """The platform certainly did not accept it and never will as it is."""


class DestinationGone(Refused):
    """The chat is closed to us: blocked, kicked, deactivated, deleted."""


class DestinationMoved(Refused):
    """The chat lives on under another id.

    Args:
        detail: One sentence for staff.
        new_chat_id: The platform's new id of the same chat.
        code: The platform's own error code.
    """

    def __init__(self, detail: str = "", *, new_chat_id: str, code: str = "") -> None:
        super().__init__(detail, code=code)
        self.new_chat_id = new_chat_id


class ThreadGone(Refused):
    """The thread or topic no longer exists in that chat."""


class AnchorGone(Refused):
    """The message to be replied to no longer exists."""


class MessageGone(Refused):
    """The message to be edited or deleted no longer exists."""


class TooOld(Refused):
    """The platform no longer lets that message be changed."""


class FormattingRefused(Refused):
    """The platform could not read the formatting; the plain text would pass."""


class Unsupported(Refused):
    """This platform has no such operation."""


class LeaseLost(DeliveryError):
    """Another process owns this now; whatever was about to be written must not be written."""


class IllegalTransition(DeliveryError):
    """The state table has no such step."""


class LedgerUnavailable(DeliveryError):
    """The debt could not be written down, so nothing may be promised."""


class UnknownPlatform(DeliveryError):
    """No platform is registered under that name."""

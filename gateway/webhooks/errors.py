"""Why a request is not taken, beside what `gateway.platforms.webhook.errors` names.

Turned                   the request is not taken; the words are for whoever looks after the sender
├── NoSuchEndpoint       nothing listens there: compare the address
├── TooLarge             the body is larger than the endpoint takes: send less
└── TooMany              more came than the endpoint takes: try again after `retry_after` seconds
"""

from gateway.errors import GatewayError


class Turned(GatewayError):
    """The request is not taken; the message is for whoever looks after the sender."""

    status = 400
    title = "This request cannot be taken"


class NoSuchEndpoint(Turned):
    """Nothing listens there: no endpoint has that name, or it is disabled; nobody is told which."""

    status = 404
    title = "There is no such endpoint"


class TooLarge(Turned):
    """The body is larger than the endpoint takes."""

    status = 413
    title = "The body is too large"


class TooMany(Turned):
    """More events came than the endpoint takes.

    Args:
        message: For whoever looks after the sender.
        retry_after: Whole seconds after which one more is taken.
    """

    status = 429
    title = "Too many events"

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after

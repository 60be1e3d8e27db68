"""What can go wrong on the way in, named for what the caller does next.

GatewayError
├── UnknownPlatform      no such platform is installed
├── NotPossible          what staff asked for changed nothing: the message says what to do
├── BadSchedule          the words name no time that can be kept: the message says what can
├── TurnLost             another process runs this turn now, or it was stopped: write nothing
└── BadSecret            a stored credential cannot be read with this installation's key
"""


class GatewayError(Exception):
    """The root of everything this app raises on purpose."""


class UnknownPlatform(GatewayError):
    """No such platform is installed."""


class TurnLost(GatewayError):
    """Another process runs this turn now, or it was stopped: nothing may be written for it."""


class NotPossible(GatewayError):
    """What staff asked for changed nothing; the message says why and what to do."""


class BadSchedule(GatewayError):
    """The words name no time that can be kept; the message says why and what can."""


class BadSecret(GatewayError):
    """A stored credential cannot be read with this installation's key."""

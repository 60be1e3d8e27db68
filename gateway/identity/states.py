"""The lives of a pairing and of a link, as tables. Pure."""

from enum import StrEnum

from delivery.tables import Table


class PairingState(StrEnum):
    """Where the pairing of one person with one account stands."""

    ASKED = "asked"  # they have a code, which nobody has approved yet
    LAPSED = "lapsed"  # the code came to nothing
    PAIRED = "paired"  # they may speak
    REVOKED = "revoked"  # not any more


class PairingEvent(StrEnum):
    """What happens to a pairing."""

    ASK = "ask"  # they are given a code, or another one
    APPROVE = "approve"
    LAPSE = "lapse"
    REVOKE = "revoke"


PAIRINGS: Table[PairingState, PairingEvent] = Table(
    thing="a pairing",
    steps={
        (PairingState.ASKED, PairingEvent.ASK): PairingState.ASKED,
        (PairingState.LAPSED, PairingEvent.ASK): PairingState.ASKED,
        (PairingState.REVOKED, PairingEvent.ASK): PairingState.ASKED,
        (PairingState.ASKED, PairingEvent.APPROVE): PairingState.PAIRED,
        (PairingState.ASKED, PairingEvent.LAPSE): PairingState.LAPSED,
        (PairingState.PAIRED, PairingEvent.REVOKE): PairingState.REVOKED,
    },
)


class LinkState(StrEnum):
    """Where a link between two identities stands."""

    ASKED = "asked"  # one side has a code, to be entered on the other
    ANSWERED = "answered"  # the other side entered it, and has a code for the first
    LINKED = "linked"  # both ways are proved
    LAPSED = "lapsed"  # it came to nothing
    ENDED = "ended"  # somebody took it back


class LinkEvent(StrEnum):
    """What happens to a link."""

    ANSWER = "answer"
    CONFIRM = "confirm"
    LAPSE = "lapse"
    END = "end"


LINKS: Table[LinkState, LinkEvent] = Table(
    thing="a link",
    steps={
        (LinkState.ASKED, LinkEvent.ANSWER): LinkState.ANSWERED,
        (LinkState.ANSWERED, LinkEvent.CONFIRM): LinkState.LINKED,
        (LinkState.ASKED, LinkEvent.LAPSE): LinkState.LAPSED,
        (LinkState.ANSWERED, LinkEvent.LAPSE): LinkState.LAPSED,
        (LinkState.LINKED, LinkEvent.END): LinkState.ENDED,
    },
)

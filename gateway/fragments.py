"""One long message that a client sent as several ([T2]). Pure.

Clients cut what is longer than one message may be: at the last white space that fits, or in the
middle of a word where there is none. So a message that nearly fills one may be the beginning of
more, and only such a one is waited for; everybody else is answered at once.
"""

from datetime import datetime, timedelta

from delivery.content import Limit

# The pieces come within a second of one another, more slowly over a bad connection.
PATIENCE = timedelta(seconds=1.5)
# As far as the platform's own clock says when they were sent, in whole seconds.
SENT_WITHIN = timedelta(seconds=5)
# A cut is sought from the end of what fits. Longer words than this are hardly ever sent.
NEARLY_FULL = 15 / 16


def may_go_on(length: int, limit: Limit) -> bool:
    """Whether a message of that length, in the platform's unit, may be the beginning of more."""
    return length >= limit.size * NEARLY_FULL


def belongs(before: datetime, after: datetime) -> bool:
    """Whether two pieces may be of one message, by when they were sent."""
    return abs(after - before) <= SENT_WITHIN


def joint(length: int, limit: Limit) -> str:
    """What stood between a piece of that length and the next one, as far as one can tell.

    A piece that fills a message to the last character was cut within a word.
    """
    return "" if length >= limit.size else "\n"

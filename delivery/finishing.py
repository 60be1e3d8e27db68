"""How an answer takes the place of what was shown of it ([D13]). Pure.

By an edit there is one message, and nobody is notified of it a second time. By a new message the
person is, which is kind to somebody who has looked away meanwhile; the live one is taken away.
"""

from datetime import datetime, timedelta


def comes_anew(
    fresh_after: timedelta | None, *, shown_at: datetime | None, owed_at: datetime
) -> bool:
    """Whether the answer is a new message instead of an edit of the live one.

    All three are stored with the answer, so that whoever goes on with it decides the same.

    Args:
        fresh_after: It is, where the live message is at least as old; None for never.
        shown_at: When the live message was begun; None if there is none.
        owed_at: When the answer was recorded.
    """
    if fresh_after is None or shown_at is None:
        return False
    return owed_at - shown_at >= fresh_after

"""Which of the lanes that compete is served first: by priority, but nobody waits for ever. Pure.

What goes last goes with the others once it has waited for a while, and those go by age. A question
still passes whatever is younger than an hour, for somebody waits for it now.
"""

from datetime import timedelta

LATE = timedelta(seconds=30)  # a notice that has waited so long goes as a final would
VERY_LATE = timedelta(hours=1)  # and whatever has waited so long goes as a question would


def rank(priority: int, waited: timedelta) -> int:
    """Where a message stands among others that are due; of the same rank the oldest goes first.

    Args:
        priority: Of its kind; 0 goes before 1.
        waited: How long it has been owed.
    """
    if waited > VERY_LATE:
        return 0
    if waited > LATE:
        return min(priority, 1)
    return priority

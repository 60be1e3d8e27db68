"""What can be wrong with a page's request, named for what the consumer does next.

Refused         hand its sentence to the person; nothing changed
└── NotFound    the same, and close the page if it shows that thing
"""


class Refused(Exception):
    """The request cannot be done; its text is a sentence for the person."""


class NotFound(Refused):
    """There is no such thing, or it is not theirs to see: the two are never told apart."""

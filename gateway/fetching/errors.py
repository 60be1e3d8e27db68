"""What can go wrong when a file is fetched or posted, named for what the caller does next.

FetchError            there is no file; the message says why, in one sentence a person may read
├── Forbidden         that address may not be reached: do not try it again
├── TooLarge          more than may be fetched: do not try it again
├── NoSuchFile        what answers has no such file to give: do not try it again
└── Unavailable       nothing came: it may work later
    ├── TooSlow       it began, and did not end in time
    └── NoAnswer      it was posted and nobody knows what became of it: look before it is sent again
"""


class FetchError(Exception):
    """There is no file; the message says why, in one sentence a person may read."""


class Forbidden(FetchError):
    """That address may not be reached, now or later."""


class TooLarge(FetchError):
    """The file is larger than may be fetched."""


class NoSuchFile(FetchError):
    """What answers has no such file to give."""


class Unavailable(FetchError):
    """Nothing came; it may work later."""


class TooSlow(Unavailable):
    """It began, and did not end in time."""


class NoAnswer(Unavailable):
    """What was posted may have arrived: no answer came."""

"""Fresh codes, and how they are stored: as a hash with this installation's key ([A2])."""

import secrets

from django.utils.crypto import salted_hmac

from gateway.identity import codes

PAIRING = "gateway.identity.pairing"
LINK = "gateway.identity.link"


def fresh() -> str:
    """A code that nobody can foresee."""
    return codes.spelled(secrets.randbits(codes.BITS))


def sealed(code: str, purpose: str) -> str:
    """What is stored of a code: whoever reads the database learns none.

    The hash is compared by the database, as a key: how long that takes says nothing about a code.
    """
    return salted_hmac(purpose, code, algorithm="sha256").hexdigest()

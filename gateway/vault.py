"""Credentials at rest: encrypted with a key made from the installation's secret key."""

import base64
import hashlib
from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from gateway.errors import BadSecret

UNREADABLE = (
    "a stored credential cannot be read: HERMES_SECRET_KEY is another one than when it was stored."
    " Put the former key into HERMES_FORMER_SECRET_KEYS, or enter the credential again."
)


def keys_in_force() -> list[str]:
    """The installation's keys: that which locks, then the former ones, which only open."""
    return [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]


def _fernet(keys: Sequence[str] = ()) -> MultiFernet:
    return MultiFernet(
        [
            Fernet(base64.urlsafe_b64encode(hashlib.sha256(b"vault:" + key.encode()).digest()))
            for key in keys or keys_in_force()
        ]
    )


def lock(secret: str) -> str:
    """`secret`, encrypted; empty stays empty."""
    return _fernet().encrypt(secret.encode()).decode() if secret else ""


def unlock(stored: str) -> str:
    """The secret that `lock` encrypted.

    Raises:
        BadSecret: It was encrypted with another key.
    """
    if not stored:
        return ""
    try:
        return _fernet().decrypt(stored.encode()).decode()
    except InvalidToken:
        raise BadSecret(UNREADABLE) from None


def relock(stored: str, keys: Sequence[str] = ()) -> str:
    """The same secret, locked with the first key; as it is if it is so already, or is empty.

    Args:
        stored: What `lock` gave, with any of the keys.
        keys: That which locks, then those that open, too; those in force by default.

    Raises:
        BadSecret: It was locked with a key that is none of them.
    """
    if not stored:
        return ""
    newest = list(keys or keys_in_force())[:1]
    try:
        _fernet(newest).decrypt(stored.encode())
    except InvalidToken:
        pass
    else:
        return stored
    try:
        return _fernet(keys).rotate(stored.encode()).decode()
    except InvalidToken:
        raise BadSecret(UNREADABLE) from None

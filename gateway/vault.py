"""Credentials at rest: encrypted with a key made from the installation's secret key."""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from gateway.errors import BadSecret


def _fernet() -> MultiFernet:
    keys = [settings.SECRET_KEY, *getattr(settings, "SECRET_KEY_FALLBACKS", [])]
    return MultiFernet(
        [
            Fernet(base64.urlsafe_b64encode(hashlib.sha256(b"vault:" + key.encode()).digest()))
            for key in keys
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
        message = (
            "a stored credential cannot be read: HERMES_SECRET_KEY is another one than when it was"
            " stored. Set the former key, or enter the credential again."
        )
        raise BadSecret(message) from None

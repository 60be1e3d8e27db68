"""Secrets in a file, behind a passphrase: whoever finds the file learns none of them.

Source: scrypt, RFC 7914; the parameters are those that OWASP's Password Storage Cheat Sheet names
for it (N=2^17, r=8, p=1), read 2026-11-30.
"""

import base64
import hashlib
import os
from collections.abc import Mapping
from typing import Any

from cryptography.fernet import Fernet, InvalidToken

from gateway.errors import NotPossible

N, R, P = 2**17, 8, 1
MEMORY = 256 * 2**20  # bytes; twice what these parameters need
SHORTEST = 12  # characters


class Seal:
    """Seals and opens secrets with one passphrase.

    Args:
        passphrase: At least `SHORTEST` characters.
        salt: That of the file; a fresh one by default.

    Raises:
        NotPossible: The passphrase is too short to protect anything.
    """

    def __init__(self, passphrase: str, salt: bytes = b"") -> None:
        if len(passphrase) < SHORTEST:
            message = f"The passphrase must have at least {SHORTEST} characters."
            raise NotPossible(message)
        self.salt = salt or os.urandom(16)
        key = hashlib.scrypt(
            passphrase.encode(), salt=self.salt, n=N, r=R, p=P, maxmem=MEMORY, dklen=32
        )
        self._fernet = Fernet(base64.urlsafe_b64encode(key))

    @property
    def facts(self) -> dict[str, str]:
        """What the file says of it."""
        return {"kind": "scrypt", "salt": base64.b64encode(self.salt).decode()}

    def close(self, secret: str) -> str:
        """`secret`, sealed; empty stays empty."""
        return self._fernet.encrypt(secret.encode()).decode() if secret else ""

    def open(self, sealed: str) -> str:
        """The secret that `close` sealed.

        Raises:
            NotPossible: The passphrase is another one.
        """
        if not sealed:
            return ""
        try:
            return self._fernet.decrypt(sealed.encode()).decode()
        except InvalidToken:
            message = "The passphrase does not open the secrets of this file. Nothing is changed."
            raise NotPossible(message) from None


def of_file(facts: Mapping[str, Any], passphrase: str) -> Seal:
    """The seal of a file that says `facts` of it.

    Raises:
        NotPossible: It says what nobody here knows.
    """
    try:
        salt = base64.b64decode(str(facts["salt"]), validate=True)
    except (KeyError, ValueError):
        salt = b""
    if facts.get("kind") != "scrypt" or len(salt) < 16:
        message = "The file's secrets are sealed in a way that this installation does not know."
        raise NotPossible(message)
    return Seal(passphrase, salt)

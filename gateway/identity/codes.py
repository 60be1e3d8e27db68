"""How a one-time code is spelled, and read back from what somebody typed. Pure ([A2])."""

import re

# No 0 and O, no 1 and I: a code is read out on the phone.
ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
LENGTH = 8
BITS = 5 * LENGTH
_GAPS = re.compile(r"[\s\-‐‑‒–—_.]+")


def spelled(number: int) -> str:
    """The code of a number below 2 to the power of `BITS`, in two groups: `ABCD-2345`."""
    letters = [ALPHABET[number >> 5 * place & 31] for place in reversed(range(LENGTH))]
    half = LENGTH // 2
    return "".join(letters[:half]) + "-" + "".join(letters[half:])


def read(text: str) -> str:
    """The code that somebody typed, however they wrote it; empty if it cannot be one."""
    letters = _GAPS.sub("", text.strip().strip("`'\"")).upper()
    is_code = len(letters) == LENGTH and all(letter in ALPHABET for letter in letters)
    half = LENGTH // 2
    return f"{letters[:half]}-{letters[half:]}" if is_code else ""

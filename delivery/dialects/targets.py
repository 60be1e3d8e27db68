"""Addresses: which targets of links are any, and those that stand among words ([D14]). Pure."""

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import regex

from delivery.dialects.marks import APART

# An address among words is left as it stands, so that the platform still sees that it is one.
_URL = regex.compile(r"https?://[^\s<>\\|`\[\]()]+", regex.IGNORECASE)
_REST_OF_URL = regex.compile(r"[^\s<>\\|`\[\]()]+")
_ODD = regex.compile(r"[\s\x00-\x1f<>\\|`\"]")


def is_web(target: str) -> bool:
    """Whether `target` is an address of the web, with a host."""
    try:
        parts = urlsplit(target)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc)


def is_web_or_mail(target: str) -> bool:
    """Whether `target` is an address of the web, or somebody's mail address."""
    if target[:7].lower() == "mailto:":
        return "@" in target
    return is_web(target)


def quoted(target: str) -> str:
    """The target with what could end a link's mark escaped as URLs escape it."""
    safe: str = _ODD.sub(lambda match: f"%{ord(match.group()):02X}", target)
    return safe


def split_at_urls(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, none of them empty, and whether each is an address."""
    at = 0
    for url in _URL.finditer(text):
        if at < url.start():
            yield text[at : url.start()], False
        yield url.group(), True
        at = url.end()
    if at < len(text):
        yield text[at:], False


def ends_with_url(text: str) -> bool:
    """Whether what follows the text would be taken for more of an address in it."""
    *_, last = text.rpartition("://")
    return last != text and _REST_OF_URL.fullmatch(last) is not None


def around_urls(text: str, words: Callable[[str], str], urls: Callable[[str], str] = str) -> str:
    """The text with `urls` done to the addresses in it and `words` to all the rest."""
    written: list[str] = []
    is_after_url = False
    for piece, is_url in split_at_urls(text):
        new = urls(piece) if is_url else words(piece)
        if is_after_url and new.startswith(APART):
            # It would become a part of the address.
            new = " " + new.removeprefix(APART)
        written.append(new)
        is_after_url = is_url
    return "".join(written)

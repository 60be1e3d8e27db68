"""In which language a person is spoken to.

The platform says which one their app is in, and it is kept with the conversation; whoever owes
them words later speaks the same. Where nothing is known it is the installation's own.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.utils import translation


def language_for(code: str) -> str:
    """The language of ours that fits a code such as `fa`, `zh-CN` or `pt_BR`; empty for none."""
    wanted = code.strip().lower().replace("_", "-")
    ours = [name for name, _ in settings.LANGUAGES]
    if wanted.partition("-")[0] == "zh":
        return "zh-hans" if "zh-hans" in ours else ""
    return next((name for name in (wanted, wanted.partition("-")[0]) if name in ours), "")


@contextmanager
def to(language: str) -> Iterator[None]:
    """Speak `language` inside; an empty one leaves what is spoken."""
    if not language:
        yield
        return
    with translation.override(language):
        yield

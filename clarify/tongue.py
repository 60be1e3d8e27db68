"""The words about prompts in each language that people are offered ([T5])."""

import functools

from django.conf import settings
from django.utils import translation

from clarify.wording import Words


def words(language: str) -> Words:
    """What is said in `language`, a code of `LANGUAGES`; an empty one is the installation's own."""
    return _words(language or settings.LANGUAGE_CODE)


@functools.cache
def _words(language: str) -> Words:
    with translation.override(language):
        return Words.through(translation.gettext)

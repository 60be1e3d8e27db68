"""Running commands in tests."""

import io
import sys

from django.core.management import call_command

TOKEN = "123456:" + "B" * 35


def run(*words: str, stdin: str = "", monkeypatch=None) -> str:
    out = io.StringIO()
    if monkeypatch is not None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
    call_command(*words, stdout=out)
    return out.getvalue()

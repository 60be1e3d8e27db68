"""Ready-made scripts: what the model answers to which words. Pure."""

import json
import threading
from collections.abc import Callable

from tests.peers.model.replies import (
    Reply,
    Request,
    Script,
    ToolCall,
    last_user_text,
    tool_results,
)

LONG_ANSWER = """\
# A long answer

It has **bold**, *italic*, `code`, a [link](https://example.org/a?b=c&d=e) and ~~struck~~ words.

- one
- two
  - two and a half

| fruit | price |
|-------|------:|
| apple | 1.20 |
| 梨 | 3.40 |

```python
def greet(name: str) -> str:
    return f"hello, {name}!"
```

> A quotation, 1 < 2 & 3 > 2.
"""


def echo(request: Request) -> Reply:
    """Repeat what the person said last."""
    return Reply(text=f"You said: {last_user_text(request)}")


def in_turn(*replies: Reply) -> Script:
    """Give these replies one after another; the last of them for ever after."""
    left = list(replies)
    lock = threading.Lock()

    def script(request: Request) -> Reply:
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return script


def by_keyword(request: Request) -> Reply:
    """A small agent driven by the first word the person said last.

    | they say | it does |
    |---|---|
    | `ask: Which? \\| a \\| b` | calls `clarify` with the question and the choices |
    | `ask3` | calls `ask_user` with three questions |
    | `slow 2.5` | answers after so many seconds |
    | `stream 200` | streams so many words, 20 ms apart |
    | `tool name {"json": 1}` | calls that tool with those arguments |
    | `fail 429` | fails that way, see `Reply.fault` |
    | `markdown` | gives a long formatted answer |
    | anything else | `You said: …` |

    Once the tool results are there it quotes them.
    """
    results = tool_results(request)
    if results:
        return Reply(text="Result: " + " | ".join(results))
    said = last_user_text(request).strip()
    word, _, rest = said.partition(" ")
    answer = _KEYWORDS.get(word.rstrip(":").lower())
    return answer(rest.strip()) if answer is not None else echo(request)


def _ask(rest: str) -> Reply:
    question, *choices = [piece.strip() for piece in rest.split("|")]
    arguments = {"question": question, **({"choices": choices} if choices else {})}
    return Reply(tool_calls=[ToolCall("clarify", arguments)])


def _ask3(rest: str) -> Reply:
    questions = [
        {
            "id": "target",
            "header": "Target",
            "question": "Where should it run?",
            "options": [
                {"label": "Staging (Recommended)", "description": "The test cluster"},
                {"label": "Production"},
            ],
        },
        {
            "id": "checks",
            "header": "Checks",
            "question": "Which checks first?",
            "options": [{"label": "Lint"}, {"label": "Unit"}, {"label": "Browser"}],
            "multiSelect": True,
        },
        {
            "id": "window",
            "header": "When",
            "question": "When should it start?",
            "options": [{"label": "Now"}, {"label": "Tonight"}],
        },
    ]
    arguments: dict[str, object] = {"questions": questions}
    if rest.isdigit():
        arguments["timeoutSeconds"] = int(rest)
    return Reply(tool_calls=[ToolCall("ask_user", arguments)])


def _slow(rest: str) -> Reply:
    return Reply(text=f"Done after {rest} s.", delay_first=float(rest or 1))


def _stream(rest: str) -> Reply:
    words = [f"word{number} " for number in range(1, int(rest or 50) + 1)]
    return Reply(text="".join(words), chunks=words, delay_between=0.02)


def _tool(rest: str) -> Reply:
    name, _, arguments = rest.partition(" ")
    try:
        decoded = json.loads(arguments or "{}")
    except ValueError:
        return Reply(tool_calls=[ToolCall(name, arguments)])
    return Reply(tool_calls=[ToolCall(name, decoded)])


def _fail(rest: str) -> Reply:
    return Reply(text="This never arrives whole.", fault=rest or "500")


def _markdown(rest: str) -> Reply:
    return Reply(text=LONG_ANSWER * int(rest or 1))


_KEYWORDS: dict[str, Callable[[str], Reply]] = {
    "ask": _ask,
    "ask3": _ask3,
    "slow": _slow,
    "stream": _stream,
    "tool": _tool,
    "fail": _fail,
    "markdown": _markdown,
}

"""What the demo agent says, as a function of what it was told. Pure.

It needs no model and no key, and shows each feature of the gateway when its keyword is said.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_ADDRESS = re.compile(r"^\s*(?:\[[^\]\n]*\][:\s]*|@\S+\s+)*")
_LONGEST_SLOWNESS = 600.0  # seconds
_LONG_TEXT_LENGTH = 10_500  # characters; more than any chat platform takes in one message

_GREETING = """\
I am the **demo agent**: no model and no key behind me, but everything around me is real.
Say one of these words and watch what happens.
"""
# Each feature, and the tools that it needs; none for what I do alone.
_FEATURES: tuple[tuple[str, frozenset[str]], ...] = (
    (
        "`clarify` asks you one question with choices; `open` asks one without",
        frozenset({"clarify"}),
    ),
    (
        "`ask 3` asks three questions at once (`ask 1` and `ask 2` work too)",
        frozenset({"ask_user"}),
    ),
    ("`multi` lets you choose several answers", frozenset({"ask_user"})),
    (
        "`approve` wants to do something dangerous and waits for your approval",
        frozenset({"pretend_delete"}),
    ),
    (
        "`both` asks a question and for an approval at once",
        frozenset({"clarify", "pretend_delete"}),
    ),
    ("`run ls -l` runs a shell command, once somebody has approved it", frozenset({"shell"})),
    ("`note buy milk` uses a harmless tool", frozenset({"note"})),
    ("`time` looks at the clock, with a tool too", frozenset({"current_time"})),
    ("`markdown` shows a richly formatted answer, `long` a very long one", frozenset()),
    ("`slow 30` talks for 30 seconds, so that you can try /stop", frozenset()),
    ("`fail` shows what a broken model looks like", frozenset()),
)


def help_text(tools: frozenset[str]) -> str:
    """What it can show with the tools named in `tools`."""
    lines = [f"- {words}" for words, needed in _FEATURES if needed <= tools]
    return "\n".join([_GREETING, *lines, "", "Anything else I simply repeat to you."])


MARKDOWN = """\
# A formatted answer

Some **bold**, some *italic*, some ~~struck out~~ and some `inline code`, and a
[link](https://www.djangoproject.com/) to somewhere useful.

## A list in a list

1. First things first
   - with a detail
   - and another one
2. Then the rest
- [x] a finished task
- [ ] an open one

## A table

| platform | one message holds | counted in |
| --- | ---: | --- |
| Telegram | 4096 | UTF-16 units |
| Discord | 2000 | characters |
| 企业微信 | 2048 | bytes |

## Code

```python
def greet(name: str) -> str:
    return f"Hello, {name} & <friends>!"
```

> A quotation, with an emoji 👩‍🚀 and some Persian: سلام دنیا

That was it.
"""


@dataclass(frozen=True)
class Call:
    """A tool the demo agent wants to use."""

    name: str
    args: Mapping[str, Any]


@dataclass(frozen=True)
class Script:
    """One response of the demo agent.

    Attributes:
        pieces: What it says, piece by piece.
        pause_seconds: The silence before each piece but the first.
        calls: The tools it then uses.
        failure: The HTTP status of the failure it pretends, 0 for none.
    """

    pieces: tuple[str, ...] = ()
    pause_seconds: float = 0.0
    calls: tuple[Call, ...] = ()
    failure: int = 0

    @property
    def text(self) -> str:
        """All it says."""
        return "".join(self.pieces)


@dataclass(frozen=True)
class ToolResult:
    """What a tool of the last response gave."""

    name: str
    content: Any


@dataclass(frozen=True, kw_only=True)
class Heard:
    """What the demo agent goes by.

    Attributes:
        prompt: What the person said last.
        results: What the tools gave since; empty if none was used.
        tools: The names of the tools at hand.
    """

    prompt: str
    results: Sequence[ToolResult] = ()
    tools: frozenset[str] = field(default_factory=frozenset)


def respond(heard: Heard) -> Script:
    """What the demo agent does next."""
    if heard.results:
        return _say(_report(heard.results))
    words = _ADDRESS.sub("", heard.prompt).strip()
    keyword, _, rest = words.partition(" ")
    keyword = keyword.strip("`.!?").lower()
    calls = _calls_for(keyword, rest.strip())
    if calls:
        return _use(calls, heard.tools)
    if keyword in _SHOWS:
        return _SHOWS[keyword](rest)
    if keyword == "help" or not words:
        return _say(help_text(heard.tools))
    return _say(f"You said: {words}\n\nSay `help` to see what I can show you.")


def _calls_for(keyword: str, rest: str) -> tuple[Call, ...]:
    keywords = ("clarify", "approve") if keyword == "both" else (keyword,)
    found = (_call_for(each, rest) for each in keywords)
    return tuple(call for call in found if call is not None)


def _call_for(keyword: str, rest: str) -> Call | None:
    count = min(3, max(1, int(_number(rest, 3.0))))
    noting = Call("note", {"text": rest or "the demo agent was here"})
    calls = {
        "clarify": Call("clarify", {"question": "Where shall we deploy?", "choices": _PLACES}),
        "open": Call("clarify", {"question": "What shall we call the new service?"}),
        "ask": Call("ask_user", {"questions": _QUESTIONS[:count]}),
        "multi": Call("ask_user", {"questions": [_TOPPINGS]}),
        "note": noting,
        "tool": noting,
        "time": Call("current_time", {"time_zone": rest} if rest else {}),
        "run": Call("shell", {"command": rest or "ls -l"}),
        "approve": Call("pretend_delete", {"target": rest or "build/old-release.tar.gz"}),
    }
    return calls.get(keyword)


def _use(calls: tuple[Call, ...], tools: frozenset[str]) -> Script:
    missing = next((call.name for call in calls if call.name not in tools), None)
    if missing is not None:
        return _say(f"I would use `{missing}` now, but I do not have that tool here.")
    pieces = [_ANNOUNCEMENTS.get(call.name, "One moment.") for call in calls]
    return Script(pieces=(" ".join(pieces),), calls=calls)


def _report(results: Sequence[ToolResult]) -> str:
    return "\n\n".join(_report_one(result) for result in results)


def _report_one(result: ToolResult) -> str:
    content = result.content
    if not isinstance(content, Mapping):
        return f"`{result.name}` gave: {content}"
    shapes: tuple[tuple[bool, Callable[[Mapping[str, Any]], str]], ...] = (
        (content.get("status") in {"denied", "not_approved"}, _report_refusal),
        ("output" in content, _report_output),
        ("error" in content, lambda told: f"`{result.name}` did not work: {told['error']}"),
        ("user_response" in content, _report_response),
        (content.get("status") == "answered", _report_answers),
        (content.get("status") == "no_answer", _report_silence),
    )
    for fits, report in shapes:
        if fits:
            return report(content)
    return f"`{result.name}` gave: {', '.join(f'{key} {value}' for key, value in content.items())}"


def _report_refusal(content: Mapping[str, Any]) -> str:
    why = f": {content['reason']}" if content.get("reason") else ""
    return f"It was not approved{why}. I leave it alone."


def _report_output(content: Mapping[str, Any]) -> str:
    return f"It gave (exit code {content.get('exit_code')}):\n\n{_code(content['output'])}"


def _report_response(content: Mapping[str, Any]) -> str:
    response = str(content["user_response"])
    if response.startswith("[") and response.endswith("]"):  # in the place of an answer
        return f"Instead of an answer I got `{response}`; I go on with my best judgement."
    return f"You answered: **{response}**. Thank you!"


def _report_silence(content: Mapping[str, Any]) -> str:
    reason = content.get("reason", "")
    return f"No answer{f' ({reason})' if reason else ''}: I go on with my best judgement."


def _code(text: str) -> str:
    return "\n".join(f"    {line}" for line in str(text).splitlines()) or "    (nothing)"


def _report_answers(content: Mapping[str, Any]) -> str:
    answers = content.get("answers", {}).get("answers", {})
    lines = [f"- {key}: **{', '.join(map(str, values))}**" for key, values in answers.items()]
    return "\n".join(["You answered:", *lines, "", "Thank you!"])


def _say(text: str) -> Script:
    """Say `text` in pieces of about eight words, as a model would."""
    words = re.findall(r"\S+\s*|\s+", text)
    return Script(pieces=tuple("".join(words[i : i + 8]) for i in range(0, len(words), 8)))


def _slowly(seconds: float) -> Script:
    seconds = min(max(seconds, 0.0), _LONGEST_SLOWNESS)
    steps = max(1, round(seconds * 2))
    counted = tuple(f"{step} of {steps} … " for step in range(1, steps + 1))
    pieces = ("I count slowly; /stop ends it. ", *counted, "Done.")
    return Script(pieces=pieces, pause_seconds=seconds / (len(pieces) - 1))


def _long_text() -> str:
    paragraphs = ["# A very long answer"]
    number = 0
    while sum(map(len, paragraphs)) < _LONG_TEXT_LENGTH:
        number += 1
        paragraphs.append(
            f"**Paragraph {number}.** However long an answer is, every part of it arrives in "
            "order, none is lost and none comes twice; where a message must be cut, the cut is "
            "made between words and the formatting goes on in the next one."
        )
    return "\n\n".join([*paragraphs, "This is the end of the long answer."])


def _number(text: str, otherwise: float) -> float:
    found = re.match(r"\d{1,6}(?:\.\d{1,3})?", text.strip())
    return float(found.group()) if found else otherwise


_SHOWS: dict[str, Callable[[str], Script]] = {
    "markdown": lambda _rest: _say(MARKDOWN),
    "long": lambda _rest: _say(_long_text()),
    "slow": lambda rest: _slowly(_number(rest, 20.0)),
    "fail": lambda rest: Script(failure=int(_number(rest, 500.0))),
}

_ANNOUNCEMENTS = {
    "clarify": "I need to know something first.",
    "ask_user": "I have something to ask before I go on.",
    "pretend_delete": "This one is dangerous, so I need your approval.",
    "shell": "A shell command can do harm, so I need your approval.",
}

_PLACES = ["Staging (Recommended)", "Production", "Both"]

_QUESTIONS: list[dict[str, Any]] = [
    {
        "id": "target",
        "header": "Target",
        "question": "Where shall we deploy?",
        "options": [
            {"label": "Staging (Recommended)", "description": "Nobody notices a mistake"},
            {"label": "Production", "description": "Everybody does"},
        ],
    },
    {
        "id": "checks",
        "header": "Checks",
        "question": "Which checks shall run first?",
        "options": [{"label": "Unit tests"}, {"label": "Browser tests"}, {"label": "Load test"}],
        "multiSelect": True,
    },
    {
        "id": "when",
        "header": "When",
        "question": "When shall it happen?",
        "options": [{"label": "Now (Recommended)"}, {"label": "Tonight"}, {"label": "On Monday"}],
    },
]

_TOPPINGS: dict[str, Any] = {
    "id": "toppings",
    "header": "Toppings",
    "question": "What shall be on the pizza? Choose as many as you like.",
    "options": [{"label": name} for name in ("Cheese", "Mushrooms", "Olives", "Chili")],
    "multiSelect": True,
}

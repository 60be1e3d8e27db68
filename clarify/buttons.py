"""The native buttons of a question, and what comes back when one is pressed. Pure."""

from clarify import presenting, wording
from clarify.schema import Option, Question
from delivery.content import Button, Controls

DATA_PREFIX = "q"
OTHER = "o"
SKIP = "s"


def controls(question: Question, token: str) -> Controls:
    """A button for each option and one for each way out; none where a press cannot answer it all.

    Args:
        question: What is asked.
        token: Whose buttons they are.
    """
    if question.multi_select or not question.options:
        return Controls()
    rows: list[tuple[Button, ...]] = [
        (Button(label=caption, data=button_data(token, str(index))),)
        for index, caption in enumerate(presenting.captions(question))
    ]
    rows.append(
        (
            Button(label=wording.OTHER, data=button_data(token, OTHER)),
            Button(label=wording.SKIP, data=button_data(token, SKIP)),
        )
    )
    return Controls(rows=tuple(rows))


def button_data(token: str, choice: str) -> str:
    """What a button carries: whose it is and which choice; at most 24 ASCII bytes, no words."""
    return f"{DATA_PREFIX}:{token}:{choice}"


def from_button(data: str) -> tuple[str, str] | None:
    """The token and choice that `button_data` wrote; None if it is no such text."""
    words = data.split(":")
    if len(words) != 3 or words[0] != DATA_PREFIX:
        return None
    return words[1], words[2]


def option(question: Question, choice: str) -> Option | None:
    """The option whose button carries `choice`; None if there is no such button."""
    return {str(index): each for index, each in enumerate(question.options)}.get(choice)

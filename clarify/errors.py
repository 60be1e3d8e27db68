"""What can go wrong with a question, named for what the caller does next.

ClarifyError
├── InvalidQuestion   the agent asked badly: hand `message` back to the model
├── UnknownPrompt     there is no such prompt: tell the person it is unknown
├── NotPending        it takes no answers in this state: tell the person what happened to it
├── CannotShow        it cannot be shown again at this moment: say why
├── NotTaken          what staff asked for changed nothing: the message says what to do
├── NotAllowed        they may not approve that: refuse in private, say who can let them
└── NotYours          another person was asked: refuse in private, change nothing
"""


class ClarifyError(Exception):
    """The root of everything this app raises on purpose."""


class InvalidQuestion(ClarifyError):
    """What the agent asked breaks the tool's contract; nothing was shown to anybody.

    Args:
        field: The argument at fault, as a path: `questions[1].options[0].label`.
        message: What to change, in words the model can act on.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class UnknownPrompt(ClarifyError):
    """No prompt is stored under that id."""


class NotPending(ClarifyError):
    """The prompt takes no answer in the state it is in.

    Args:
        state: The state it is in, as stored.
    """

    def __init__(self, state: str) -> None:
        super().__init__(f"The question is {state} already.")
        self.state = state


class NotYours(ClarifyError):
    """The prompt was put to somebody else, and the policy lets only them answer."""


class NotAllowed(ClarifyError):
    """They may not approve an operation of that risk; the message says who can let them."""


class NotTaken(ClarifyError):
    """What staff asked for changed nothing; the message says why and what to do."""


class CannotShow(ClarifyError):
    """The prompt cannot be shown again at this moment; the message says why and what to do."""

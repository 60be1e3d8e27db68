"""What a native button of a prompt carries. Pure."""

DATA_PREFIX = "q"


def button_data(token: str, choice: str) -> str:
    """What a button carries: whose it is and which choice; at most 24 ASCII bytes, no words.

    Args:
        token: Names the prompt; 16 characters that nobody can guess.
        choice: What the button does, at most 5 characters.
    """
    return f"{DATA_PREFIX}:{token}:{choice}"


def from_button(data: str) -> tuple[str, str] | None:
    """The token and choice that `button_data` wrote; None if it is no such text."""
    words = data.split(":")
    if len(words) != 3 or words[0] != DATA_PREFIX:
        return None
    return words[1], words[2]

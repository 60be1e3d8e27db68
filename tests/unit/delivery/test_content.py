"""What a message is made of comes back from the columns it is stored in."""

import json

from hypothesis import given
from hypothesis import strategies as st

from delivery.content import Button, ButtonStyle, Controls, Rendered

words = st.text(max_size=20)
buttons = st.builds(Button, label=words, data=words, style=st.sampled_from(ButtonStyle))
rows = st.lists(st.lists(buttons, max_size=3).map(tuple), max_size=3).map(tuple)
controls = st.builds(
    Controls, rows=rows, force_reply=st.booleans(), placeholder=words, clear=st.booleans()
)
rendered = st.builds(
    Rendered,
    text=words,
    plain=words,
    length=st.integers(0, 5000),
    format=st.dictionaries(words, st.lists(st.integers(), max_size=3), max_size=2),
)


@given(controls)
def test_controls_come_back_from_json(given_controls: Controls) -> None:
    stored = json.loads(json.dumps(given_controls.as_dict()))
    assert Controls.from_dict(stored) == given_controls


def test_an_empty_column_means_no_controls() -> None:
    assert Controls.from_dict({}) == Controls()


@given(rendered)
def test_a_rendered_message_comes_back_from_json(message: Rendered) -> None:
    stored = json.loads(json.dumps(message.as_dict()))
    assert Rendered.from_dict(stored) == message

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gateway.agents.sse import StreamJoiner


def chunk(finish=None, **delta):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [choice]}


def arguments(piece, index=0, **more):
    return chunk(tool_calls=[{"index": index, "function": {"arguments": piece}, **more}])


def wire(chunks, ending="\n\n"):
    events = [json.dumps(one) for one in chunks]
    return "".join(f"data: {event}{ending}" for event in [*events, "[DONE]"]).encode()


def read(data, *cuts):
    """What comes out, decoded, and what was said, when `data` arrives cut at `cuts`."""
    heard = []
    joiner = StreamJoiner(heard.append)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = pairwise(edges)
    out = b"".join(joiner.feed(data[start:end]) for start, end in pieces) + joiner.finish()
    lines = [line[6:] for line in out.decode().split("\n") if line.startswith("data: ")]
    return [line if line == "[DONE]" else json.loads(line) for line in lines], heard


def test_many_pieces_of_text_become_one():
    end = chunk(finish="stop")
    out, heard = read(wire([chunk(content=word) for word in ("one ", "two ", "three")] + [end]))

    assert out == [chunk(content="one two three"), end, "[DONE]"]
    assert heard == ["one ", "two ", "three"]


def test_pieces_of_arguments_are_joined_call_by_call():
    first = arguments("", id="a", type="function")
    pieces = [first, arguments('{"q"'), arguments(":1}"), arguments("{", 1), arguments("}", 1)]
    out, heard = read(wire(pieces))

    assert out == [first, arguments('{"q":1}'), arguments("{}", 1), "[DONE]"]
    assert heard == []


def test_what_is_more_than_a_piece_passes_as_it_is():
    odd = [
        {**chunk(content="x"), "usage": {"total_tokens": 1}},
        chunk(content="x", reasoning_content="y"),
        chunk(finish="stop", content="x"),
        {"error": {"message": "broken"}},
        {"choices": []},
    ]
    out, _ = read(wire(odd))

    assert out == [*odd, "[DONE]"]


def test_order_is_kept_between_joined_and_passed_events():
    first, usage = chunk(content="a"), {"choices": [], "usage": {"total_tokens": 1}}
    out, _ = read(wire([first, usage, chunk(content="b")]))

    assert out == [first, usage, chunk(content="b"), "[DONE]"]


def test_thoughts_are_passed_on_and_not_heard():
    words = ["<think>", "hm ", "hm", "</think>", "Yes", "."]
    out, heard = read(wire([chunk(content=word) for word in words]))

    joined = ["<think>", "hm hm", "</think>", "Yes."]
    assert out == [*(chunk(content=text) for text in joined), "[DONE]"]
    assert heard == ["Yes", "."]


def test_comments_and_line_ends_of_any_kind_are_understood():
    data = b": still thinking\r\n\r\n" + wire([chunk(content="a"), chunk(content="b")], "\r\n\r\n")

    assert read(data)[0] == [chunk(content="ab"), "[DONE]"]


def test_an_event_that_is_not_json_is_left_to_the_client_library():
    joiner = StreamJoiner(lambda piece: None)

    assert joiner.feed(b"data: {broken\n\nevent: error\n") == b"data: {broken\n\nevent: error\n"


def test_a_stream_without_a_last_line_end_loses_nothing():
    out, heard = read(b"data: " + json.dumps(chunk(content="end")).encode())

    assert (out, heard) == ([chunk(content="end")], ["end"])


deltas = st.one_of(
    st.text(max_size=6).map(lambda text: chunk(content=text)),
    st.tuples(st.text(max_size=6), st.integers(0, 1)).map(lambda given: arguments(*given)),
    st.just({"choices": [], "usage": {"total_tokens": 3}}),
)


def meaning(chunks):
    text, calls = "", {}
    for one in chunks:
        for choice in one["choices"] if one != "[DONE]" else ():
            text += choice["delta"].get("content", "")
            for call in choice["delta"].get("tool_calls", ()):
                index = call["index"]
                calls[index] = calls.get(index, "") + call["function"]["arguments"]
    return text, calls


@given(st.lists(deltas, max_size=12), st.lists(st.integers(0, 2000), max_size=6))
def test_the_meaning_is_the_same_however_the_stream_is_cut(chunks, cuts):
    out, heard = read(wire(chunks), *cuts)

    assert meaning(out) == meaning(chunks)
    assert "".join(heard) == meaning(chunks)[0]
    assert out == read(wire(chunks))[0]

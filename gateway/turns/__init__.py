"""The life of a turn in the database: the only writer of turns and tool calls.

Whoever runs a turn holds it by its epoch; a write for an older epoch, or for a turn that was
stopped, raises `TurnLost` and changes nothing.

life        from the queue to its end: begun, claimed, checkpointed, suspended, gone on with
gathering   waiting in the queue for the files of its message, and for further pieces of it
joining     taken in by the turn that runs, which it was to steer
capacity    waiting for room in a full installation
stopping    ended because a person or staff ask for it
recovery    kept in hand, laid down, taken back from the dead, found again
toolcalls   the calls of tools inside it: begun is written before they run, their result after
owing       what is owed to the person, kept in the history and shown of it
claims      who holds it
"""

from gateway.turns.capacity import make_way, tell_waiting
from gateway.turns.gathering import extend, let_begin
from gateway.turns.joining import joinable, open_of
from gateway.turns.life import (
    NewTurn,
    checkpoint,
    claim,
    enqueue,
    fail,
    finish,
    keep_words,
    on_prompt_resolved,
    reword,
    wait,
)
from gateway.turns.recovery import at_work, give_back, reclaim, renew, running, wake_overlooked
from gateway.turns.stopping import bar, interrupt, stop, stop_one
from gateway.turns.toolcalls import (
    begin_tool,
    failed_in_a_row,
    finish_tool,
    forget_tool,
    run_permitted,
)

__all__ = [
    "NewTurn",
    "at_work",
    "bar",
    "begin_tool",
    "checkpoint",
    "claim",
    "enqueue",
    "extend",
    "fail",
    "failed_in_a_row",
    "finish",
    "finish_tool",
    "forget_tool",
    "give_back",
    "interrupt",
    "joinable",
    "keep_words",
    "let_begin",
    "make_way",
    "on_prompt_resolved",
    "open_of",
    "reclaim",
    "renew",
    "reword",
    "run_permitted",
    "running",
    "stop",
    "stop_one",
    "tell_waiting",
    "wait",
    "wake_overlooked",
]

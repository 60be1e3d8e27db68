"""Which layer holds a message now ([Q21]). Pure: a story in, a verdict out.

It is there so that nobody blames the model for an answer that was never taken.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from clarify import standing
from clarify.states import State as PromptState
from delivery.errors import AuthenticationRefused, NetworkDown, RateLimited
from delivery.states import State as DeliveryState
from gateway import launching
from gateway.states import TurnState
from gateway.story import Asked, Connection, Owed, Said, Story, Turned


class Layer(StrEnum):
    """Where something can be held."""

    ACCESS = "access"  # who may speak, and what is for us
    QUESTION = "question"  # a person is waited for
    TURN = "turn"  # queue, workers, tools
    MODEL = "model call"
    DELIVERY = "delivery"
    PLATFORM = "platform"  # the connection, or what the platform said
    NOBODY = "nobody"  # it is over


@dataclass(frozen=True)
class Held:
    """The layer that holds it, what is the matter, and what to do."""

    layer: Layer
    says: str
    todo: str


NOTHING_TO_DO = "There is nothing to do."
SLOW_CALL = timedelta(minutes=2)
OF_THE_PLATFORM = {kind.__name__ for kind in (NetworkDown, RateLimited, AuthenticationRefused)}


def held_by(story: Story) -> Held:
    """The verdict on `story`."""
    return _said(story.about) or _turn(story) or _delivery(story) or _over(story)


def _turn(story: Story) -> Held | None:
    """What an open turn waits for."""
    turn = story.turn
    if turn is None:
        return None
    match turn.state:
        case TurnState.QUEUED | TurnState.READY:
            return _waits_for_worker(turn, story)
        case TurnState.RUNNING:
            return _runs(turn, story)
        case TurnState.WAITING:
            return _waits_for_person(story)
        case _:
            return None


def _waits_for_worker(turn: Turned, story: Story) -> Held:
    if turn.behind:
        todo = f"Look at it: manage.py explain {turn.behind}"
        return Held(Layer.TURN, f"It waits behind {turn.behind}; turns go in order.", todo)
    if (
        turn.state == TurnState.QUEUED
        and turn.held_until is not None
        and turn.held_until > story.now
    ):
        says = f"It waits for the files of its message, until {turn.held_until:%H:%M:%S} at most."
        return Held(Layer.PLATFORM, says, "Wait a moment; it begins without them if it must.")
    if not story.alive.worker:
        return Held(
            Layer.TURN,
            "No worker was seen lately, so nobody takes the turn up.",
            f"Start one: {launching.WORKER}",
        )
    if story.now - turn.updated_at > timedelta(minutes=1):
        return Held(
            Layer.TURN,
            f"It waits for a worker since {turn.updated_at:%H:%M:%S}; all seem to be busy.",
            "Raise HERMES_MAX_CONCURRENT_SESSIONS or start more workers.",
        )
    return Held(Layer.TURN, "It is about to be taken up by a worker.", "Wait a moment.")


def _runs(turn: Turned, story: Story) -> Held:
    if turn.lease_expires_at is not None and turn.lease_expires_at <= story.now:
        todo = "Nothing: upkeep hands it to another worker within seconds."
        if not story.alive.beat:
            todo = f"Start beat, which hands it to another worker: {launching.BEAT}"
        return Held(Layer.TURN, "The worker that ran it is gone.", todo)
    stop = f"To end it: /stop in the chat, or stop turn {turn.id} in the admin."
    tool = next((call for call in story.called if call.state == "started"), None)
    if tool is not None:
        since = f"{tool.started_at:%H:%M:%S}"
        return Held(Layer.TURN, f"The tool {tool.name} runs since {since}.", stop)
    seconds = int((story.now - turn.updated_at).total_seconds())
    is_slow = story.now - turn.updated_at > SLOW_CALL
    todo = f"Check the model's server: manage.py doctor. {stop}" if is_slow else stop
    return Held(Layer.MODEL, f"The model has been asked {seconds} s ago and works on it.", todo)


def _waits_for_person(story: Story) -> Held:
    pending = [asked for asked in story.asked if asked.state == PromptState.PENDING]
    if not pending:
        return Held(
            Layer.TURN,
            "It waits for an answer, but has no open question.",
            "Report this with the id: it should not happen. Stop the turn in the admin.",
        )
    asked = pending[0]
    if asked.shown and not standing.is_shown(asked.standing):
        showing = [owed for owed in story.owed if owed.delivery_id == asked.shown]
        return _owed(showing[0], story) if showing else _question(asked, story)
    return _question(asked, story)


def _question(asked: Asked, story: Story) -> Held:
    why = standing.why_open(asked.standing, now=story.now)
    says, todo = _approval(asked) if asked.risk else _answerable(asked)
    if asked.standing.expires_at < story.now and not story.alive.beat:
        todo = f"Start beat, which closes it: {launching.BEAT}"
    return Held(Layer.QUESTION, f"{says} {why}", todo)


def _answerable(asked: Asked) -> tuple[str, str]:
    todo = f"Answer for them: manage.py prompts answer {asked.id} '…'; or extend, cancel, resend."
    return f"Question {asked.id} is open.", todo


def _approval(asked: Asked) -> tuple[str, str]:
    """What an approval waits for, and how it is decided: in one's own name, on nobody's behalf."""
    says = f"It waits for an approval of {asked.risk} (approval {asked.id}): {asked.text}."
    if asked.deciders:
        says += f" It can be given by {'; '.join(asked.deciders)}."
    todo = f"Decide it: manage.py prompts approve {asked.id}, or deny {asked.id} 'why'; or extend."
    return says, todo


def _delivery(story: Story) -> Held | None:
    """The oldest message that is still owed, or one that was given up."""
    still = [owed for owed in story.owed if owed.is_open]
    if still:
        return _owed(still[0], story)
    given_up = [
        owed for owed in story.owed if owed.state == DeliveryState.ABANDONED and not _is_moot(owed)
    ]
    return _given_up(given_up[-1]) if given_up else None


def _is_moot(owed: Owed) -> bool:
    return owed.kind in {"change", "retire", "prompt", "approval"}


def _given_up(owed: Owed) -> Held:
    return Held(
        Layer.DELIVERY,
        f"The {owed.kind} message {owed.delivery_id} was given up: {owed.reason}.",
        f"Send it again: manage.py ledger retry {owed.delivery_id}",
    )


def _owed(owed: Owed, story: Story) -> Held:
    name = f"The {owed.kind} message {owed.delivery_id}"
    if owed.state == DeliveryState.ABANDONED:
        return _given_up(owed)
    if owed.behind:
        todo = f"Look at it: manage.py explain delivery:{owed.behind}"
        return Held(Layer.DELIVERY, f"{name} waits behind {owed.behind} of the same chat.", todo)
    unusable = _connection(name, story.connection)
    if unusable:
        return unusable
    if owed.state == DeliveryState.ATTEMPTING:
        todo = f"Wait a moment, then look again: manage.py explain delivery:{owed.delivery_id}"
        return Held(Layer.DELIVERY, f"{name} is being sent by {owed.owner}.", todo)
    if owed.state == DeliveryState.FAILED:
        layer = Layer.PLATFORM if owed.error_kind in OF_THE_PLATFORM else Layer.DELIVERY
        when = f"{owed.next_attempt_at:%H:%M:%S}"
        return Held(
            layer,
            f"{name} was tried and did not arrive ({owed.last_error}); the next try is at {when}.",
            f"Wait, or try at once: manage.py ledger retry {owed.delivery_id}",
        )
    return Held(Layer.DELIVERY, f"{name} is about to be sent.", "Wait a moment.")


def _connection(name: str, connection: Connection | None) -> Held | None:
    if connection is None:
        return None
    account = connection.account
    if not connection.is_enabled:
        todo = f"Enable it: manage.py account enable {account}"
        return Held(Layer.PLATFORM, f"{name} waits: the account {account} is disabled.", todo)
    if not connection.is_served:
        todo = "Start one: manage.py run_gateway"
        return Held(Layer.DELIVERY, f"{name} waits: no gateway process serves {account}.", todo)
    if connection.closed_chat:
        says = f"{name} waits: the chat is closed to us ({connection.closed_chat})."
        return Held(Layer.PLATFORM, says, "The person must write to the bot, or unblock it, first.")
    if connection.state == "ready":
        return None
    error = f": {connection.error}" if connection.error else ""
    return Held(
        Layer.PLATFORM,
        f"{name} waits: the connection of {account} is {connection.state}{error}",
        f"Check it: manage.py account test {account}",
    )


def _said(said: Said | None) -> Held | None:
    """What was decided about a message that began nothing."""
    if said is None:
        return None
    reason = said.reason or said.decided
    match said.decision:
        case "denied":
            return Held(Layer.ACCESS, f"It was not allowed: {reason}.", _how_to_allow(said))
        case "poison":
            todo = "Report this with the id; the message must be sent again by the person."
            return Held(Layer.ACCESS, f"It could not be handled: {reason}.", todo)
        case "ignored":
            return Held(Layer.ACCESS, f"It was left alone on purpose: {reason}.", NOTHING_TO_DO)
        case "closed":
            return Held(Layer.QUESTION, f"It came too late: {reason}.", NOTHING_TO_DO)
        case _:
            return None


def _how_to_allow(said: Said) -> str:
    platform = said.place.partition(" ")[0]
    return f"To allow them: manage.py allow add {platform} {said.sender_id}"


def _over(story: Story) -> Held:
    arrived = [identity for owed in story.owed for identity in owed.message_ids]
    turn = story.turn
    if turn is not None and turn.state == TurnState.FAILED:
        layer = Layer.MODEL if turn.failure and turn.failure.is_models else Layer.TURN
        says = f"Turn {turn.id} failed and the person was told: {turn.error}"
        detail = ": ".join(filter(None, (turn.failure, turn.detail))) or "no detail was kept"
        return Held(layer, says, f"For staff: {detail}")
    if turn is not None and turn.joined:
        says = f"Turn {turn.id} was given to {turn.joined}, which it was to steer."
        return Held(Layer.NOBODY, says, f"Look at it: manage.py explain {turn.joined}")
    if turn is not None and turn.state == "stopped":
        why = f": {turn.detail}" if turn.detail else ""
        return Held(Layer.NOBODY, f"Turn {turn.id} was stopped{why}.", NOTHING_TO_DO)
    if arrived:
        ids = ", ".join(arrived[-5:])
        return Held(Layer.NOBODY, f"It is over: delivered as message {ids}.", NOTHING_TO_DO)
    return Held(Layer.NOBODY, "It is over; nothing is owed.", NOTHING_TO_DO)

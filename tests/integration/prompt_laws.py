"""What must hold of prompts, turns and messages at any time; each law reads the stored rows."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from clarify import stepping
from clarify.models import Prompt, Reply
from clarify.risks import RiskLevel
from delivery.ledger import Debt
from delivery.models import Kind, Obligation
from gateway.messages import ButtonPress, ChatType, InboundMessage
from gateway.models import InboundEvent, ToolCall, Turn
from tests.integration.prompt_world import Ran, World

SEEN = {"attempting", "lost", "delivered"}
BY_A_PERSON = {"answered", "skipped"}


@dataclass
class Books:
    """All rows of one world, read at once."""

    world: World
    turns: dict[str, Turn] = field(init=False)
    prompts: list[Prompt] = field(init=False)
    calls: dict[tuple[str, str], ToolCall] = field(init=False)
    replies: list[Reply] = field(init=False)
    events: list[InboundEvent] = field(init=False)
    owed: list[Obligation] = field(init=False)

    def __post_init__(self) -> None:
        found = self.world.turns().select_related("conversation")
        self.turns = {turn.correlation: turn for turn in found}
        prompts = Prompt.objects.filter(correlation__in=list(self.turns))
        self.prompts = list(prompts.select_related("obligation").order_by("pk"))
        calls = ToolCall.objects.filter(turn__in=[turn.pk for turn in self.turns.values()])
        self.calls = {(str(call.turn_id), call.call_id): call for call in calls}
        self.replies = list(Reply.objects.filter(prompt__in=[p.pk for p in self.prompts]))
        self.events = list(InboundEvent.objects.filter(account=self.world.account))
        self.owed = list(self.world.owed().prefetch_related("parts").order_by("pk"))

    def open(self) -> list[Prompt]:
        return [prompt for prompt in self.prompts if prompt.state == "pending"]

    def call_of(self, prompt: Prompt) -> ToolCall:
        return self.calls[prompt.correlation, prompt.call_id]

    def messages_of(self, prompt: Prompt) -> list[Obligation]:
        """The messages that showed a prompt, oldest first; those without buttons are its last."""
        return [
            owed
            for owed in self.owed
            if owed.pk == prompt.obligation_id or prompt.token in str(owed.controls)
        ]


def a_prompt_closes_once_and_never_opens_again(books: Books) -> None:
    closed = books.world.closed
    for prompt in books.prompts:
        facts = (prompt.state, prompt.answers, prompt.resolved_at, prompt.resolved_by)
        if prompt.state == "pending":
            assert prompt.pk not in closed, f"{prompt} was closed before: {closed[prompt.pk]}"
        else:
            assert closed.setdefault(prompt.pk, facts) == facts


def who_closed_a_prompt_is_written_down_once(books: Books) -> None:
    winners = Counter(reply.prompt_id for reply in books.replies if reply.outcome == "resolved")
    for prompt in books.prompts:
        assert winners[prompt.pk] == (prompt.state in BY_A_PERSON), f"{prompt}: {winners}"


def nobody_else_answers(books: Books) -> None:
    """A question is its asker's, and staff's; an approver may speak to an approval."""
    taken = [(row.prompt_id, row.sender_id) for row in books.events if row.decision == "answer"]
    taken += [
        (reply.prompt_id, reply.by)
        for reply in books.replies
        if reply.outcome in {"resolved", "kept"} and reply.by != "boss"
    ]
    prompts = {prompt.pk: prompt for prompt in books.prompts}
    for number, person in taken:
        prompt = prompts[number]
        approver = books.world.id_of("bo") if prompt.is_approval else prompt.asker_id
        assert person in {prompt.asker_id, approver}, f"{prompt} was answered by {person}"


def an_approval_is_given_by_somebody_whose_authority_allows_it(books: Books) -> None:
    for prompt in books.prompts:
        if prompt.answers.get("decision") == ["approved"]:
            allowed = _approvers(prompt.what.level, prompt.asker_name)
            assert prompt.resolved_by in allowed, f"{prompt.resolved_by} may not approve {prompt}"


def a_call_has_the_result_that_agrees_with_its_prompt(books: Books) -> None:
    for prompt in books.prompts:
        call = books.call_of(prompt)
        if prompt.state == "pending":
            assert (call.state, call.result) == ("waiting", None)
        elif prompt.is_approval and prompt.answers.get("decision") == ["approved"]:
            assert call.state in {"permitted", "started", "done"}
        else:
            assert call.state == "done", f"{prompt} has no result"
            assert call.result == {"value": prompt.tool_result}
            assert _agrees(prompt, call.result["value"]), (prompt.answers, call.result)


def _agrees(prompt: Prompt, result: dict[str, Any]) -> bool:
    """Told from what is stored alone."""
    given = prompt.answers
    if prompt.is_approval:
        is_denied = given.get("decision") == ["denied"]
        return bool(result["status"] == ("denied" if is_denied else "not_approved"))
    if prompt.kind == "clarify":
        said = result["user_response"]
        return bool((said == ", ".join(given.get("answer", []))) == (prompt.state == "answered"))
    status = "answered" if prompt.state == "answered" else "no_answer"
    return result["status"] == status and result.get("answers", {}).get("answers", {}) == given


def a_turn_waits_exactly_while_a_prompt_of_it_is_open(books: Books) -> None:
    asking = {prompt.correlation for prompt in books.open()}
    waiting = {correlation for correlation, turn in books.turns.items() if turn.state == "waiting"}
    assert waiting == asking, f"stuck: {waiting - asking}; gone on too early: {asking - waiting}"
    for (correlation, call_id), call in books.calls.items():
        if call.state == "waiting" and correlation in waiting:
            mine = [p for p in books.open() if (p.correlation, p.call_id) == (correlation, call_id)]
            assert len(mine) == 1, f"{call} waits for nobody"


def one_turn_of_a_conversation_is_active(books: Books) -> None:
    active = [t for t in books.turns.values() if t.state in {"running", "waiting", "ready"}]
    assert max(Counter(turn.conversation_id for turn in active).values(), default=0) <= 1


def each_turn_is_resumed_once_for_each_time_it_stopped_to_ask(books: Books) -> None:
    """A claim begins it, and there is one more for each round of answers and for each death."""
    for turn in books.turns.values():
        laid_down = turn.segment + turn.deaths
        match turn.state:
            case "queued":
                assert turn.epoch == 0
            case "running" | "finished":
                assert turn.epoch == laid_down + 1, f"{turn}: {turn.epoch} claims"
            case "waiting" | "ready" | "failed":
                assert turn.epoch == laid_down, f"{turn}: {turn.epoch} claims"
            case _:
                assert turn.epoch in {laid_down, laid_down + 1}, f"{turn}: {turn.epoch} claims"


def a_dangerous_tool_runs_once_and_only_if_somebody_allowed_it(books: Books) -> None:
    runs = Counter((ran.turn.pk, ran.call_id) for ran in books.world.ran)
    assert max(runs.values(), default=0) <= 1, f"it ran again: {runs}"
    asked = {(prompt.correlation, prompt.call_id): prompt for prompt in books.prompts}
    for ran in books.world.ran:
        prompt = asked.get((ran.turn.correlation, ran.call_id))
        if prompt is None:
            assert _is_permitted(ran), f"nobody allowed {ran}"
        else:
            assert prompt.answers.get("decision") == ["approved"], f"{prompt} was not approved"
            assert prompt.what.detail.count(ran.arguments["target"]) == 1


def _approvers(level: RiskLevel, asker: str) -> set[str]:
    return {"bo"} if level is RiskLevel.CRITICAL else {"bo", asker}


def _is_permitted(ran: Ran) -> bool:
    allowed = _approvers(RiskLevel(ran.arguments["level"]), ran.turn.sender_name)
    return any(permit.given_by in allowed for permit in ran.permits)


def every_event_has_one_row(books: Books) -> None:
    kinds = {"message": InboundMessage, "press": ButtonPress}
    for kind, event_class in kinds.items():
        rows = Counter(row.message_id for row in books.events if row.kind == kind)
        sent = [e.source.message_id for e in books.world.received if isinstance(e, event_class)]
        assert rows == Counter(sent)
    assert not [row for row in books.events if row.decision in {"", "poison"}]


def nothing_that_was_said_is_swallowed(books: Books) -> None:
    rows = {row.message_id: row for row in books.events if row.kind == "message"}
    for event in books.world.received:
        if isinstance(event, InboundMessage) and event.event_id not in books.world.judged:
            row = rows[event.source.message_id]
            assert _came_to_something(books, event, row), (event.text, row.decision, row.reason)
            books.world.judged.add(event.event_id)


def _came_to_something(books: Books, event: InboundMessage, row: InboundEvent) -> bool:
    match row.decision:
        case "turn":
            return row.turn_id is not None
        case "answer" | "command":
            taken = [r for r in books.replies if r.outcome in {"resolved", "kept"}]
            mine = [r for r in taken if (r.prompt_id, r.by) == (row.prompt_id, row.sender_id)]
            return any(r.text == event.text for r in mine) or _was_told(books, event)
        case "denied":
            return event.source.user_name == "eve" or _was_told(books, event)
        case "ignored":
            is_passing = event.source.chat_type is ChatType.GROUP and not event.mentions_bot
            return is_passing or not (event.text.strip() or event.attachments)
        case _:
            return _was_told(books, event)


def _was_told(books: Books, event: InboundMessage) -> bool:
    """Whether something is owed to whoever said it, because of it."""
    return any(
        owed.delivery_id
        == Debt(
            conversation_key=owed.conversation_key,
            trigger=f"event:{event.event_id}",
            address=owed.destination,
            kind=Kind(owed.kind),
            content=owed.content,
        ).delivery_id
        for owed in books.owed
        if owed.kind in {Kind.CONTROL, Kind.NOTICE}
    )


def every_press_is_acknowledged_once_and_whoever_lost_is_told(books: Books) -> None:
    rows = {row.event_id: row for row in books.events if row.kind == "press"}
    told = Counter(event_id for event_id, _ in books.world.acknowledged)
    assert told == Counter(rows.keys())
    for event_id, words in books.world.acknowledged:
        assert words or rows[event_id].decision == "answer", rows[event_id].reason


def no_prompt_stays_open_that_certainly_nobody_saw(books: Books) -> None:
    """Once upkeep has run."""
    if not books.world.was_kept:
        return
    for prompt in books.open():
        shown = books.messages_of(prompt)
        refused = [owed for owed in shown if owed.state == "abandoned" and not may_be_seen(owed)]
        assert not shown or len(refused) < len(shown), f"{prompt} reached nobody and stays open"


def may_be_seen(owed: Obligation) -> bool:
    return owed.state == "delivered" or any(part.state in SEEN for part in owed.parts.all())


def the_front_of_the_queue_is_shown_or_owed(books: Books) -> None:
    """Of the open questions of a conversation one is; those whose time is up do not count."""
    queues: dict[str, list[Prompt]] = {}
    for prompt in books.open():
        if prompt.is_approval:
            assert prompt.obligation is not None, f"{prompt} is invisible"
        elif prompt.expires_at > books.world.clock():
            queues.setdefault(prompt.conversation_key, []).append(prompt)
    for queue in queues.values():
        assert any(prompt.obligation for prompt in queue), f"{queue[0]} is invisible"


def the_last_view_has_the_buttons_of_the_stored_progress(books: Books) -> None:
    for prompt in books.open():
        if prompt.is_approval or not prompt.has_buttons or prompt.obligation is None:
            continue
        changes = [
            o for o in books.owed if o.kind == "change" and o.edits_id == prompt.obligation_id
        ]
        view = (changes or [prompt.obligation])[-1]
        expected = stepping.controls(prompt.question_set, prompt.so_far, prompt.token)
        assert view.native_controls == expected, f"{prompt} shows another step than it is at"


def a_closed_prompt_has_no_buttons_left(books: Books) -> None:
    """Each message of it that may be seen is rewritten, or it was never sent."""
    rewritten = {o.edits_id for o in books.owed if o.kind == "retire"}
    for prompt in books.prompts:
        if prompt.state == "pending":
            continue
        for owed in books.messages_of(prompt):
            if owed.kind in {"prompt", "approval"} and owed.controls.get("rows"):
                is_gone = owed.state == "abandoned" and not may_be_seen(owed)
                assert is_gone or owed.pk in rewritten, f"{prompt}: {owed} still has buttons"


LAWS = (
    a_prompt_closes_once_and_never_opens_again,
    who_closed_a_prompt_is_written_down_once,
    nobody_else_answers,
    an_approval_is_given_by_somebody_whose_authority_allows_it,
    a_call_has_the_result_that_agrees_with_its_prompt,
    a_turn_waits_exactly_while_a_prompt_of_it_is_open,
    one_turn_of_a_conversation_is_active,
    each_turn_is_resumed_once_for_each_time_it_stopped_to_ask,
    a_dangerous_tool_runs_once_and_only_if_somebody_allowed_it,
    every_event_has_one_row,
    nothing_that_was_said_is_swallowed,
    every_press_is_acknowledged_once_and_whoever_lost_is_told,
    no_prompt_stays_open_that_certainly_nobody_saw,
    the_front_of_the_queue_is_shown_or_owed,
    the_last_view_has_the_buttons_of_the_stored_progress,
    a_closed_prompt_has_no_buttons_left,
)

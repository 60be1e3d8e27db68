"""Which prompts there are, whose they are, and holding them; nothing here writes."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from clarify import approvals, choices, consent
from clarify.errors import NotPending, UnknownPrompt
from clarify.models import Prompt, PromptKind
from clarify.risks import NO_AUTHORITY, Authority
from clarify.states import State
from delivery import frozen, registry
from delivery.models import Obligation
from delivery.states import MAYBE_SEEN
from delivery.states import State as DeliveryState

CLOSED_LATELY = timedelta(minutes=10)  # for so long what comes is taken for a late answer
MOST_CLOSED = 10


@dataclass(frozen=True, kw_only=True)
class Answerer:
    """Who answers, and from where.

    Attributes:
        id: The platform's id of the person.
        name: What to call them.
        surface: The platform they answer on.
        is_staff: Logged-in staff may answer anything ([Q15]).
        authority: Up to which risk they may approve operations here.
    """

    id: str
    name: str
    surface: str
    is_staff: bool = False
    authority: Authority = NO_AUTHORITY


def may_answer(prompt: Prompt, answerer: Answerer) -> bool:
    """Whether it is theirs to answer, or to deny if it is an approval ([Q15], [Q19b])."""
    if answerer.is_staff or _is_own(prompt, answerer):
        return True
    if prompt.is_approval:
        return answerer.authority.others is not None
    return prompt.anyone_may_answer


def may_allow(prompt: Prompt, answerer: Answerer) -> bool:
    """Whether they may approve the operation of `prompt` ([Q19b])."""
    return answerer.authority.allows(prompt.what.level, is_own=_is_own(prompt, answerer))


def _is_own(prompt: Prompt, answerer: Answerer) -> bool:
    """Whether the turn runs for them; ids are never compared across platforms ([S1])."""
    is_here = answerer.surface == prompt.destination.platform
    return is_here and answerer.id == prompt.asker_id


def still_open(conversation_key: str) -> QuerySet[Prompt]:
    """The open prompts of a conversation, seen or not."""
    return Prompt.objects.filter(conversation_key=conversation_key, state=State.PENDING)


def hold(conversation_key: str) -> None:
    """Let nobody else close a prompt of the conversation until the transaction ends.

    All of them, oldest first: whoever closes one shows the next and may let the turn go on, and two
    who each held one and wanted the other's would wait for each other for ever.
    """
    rows = still_open(conversation_key).select_for_update().order_by("id")
    list(rows.values_list("pk", flat=True))


def held_row(prompt: Prompt) -> Prompt:
    """The row as it is now, open or closed, held until the transaction ends."""
    hold(prompt.conversation_key)
    return Prompt.objects.select_related("obligation").get(pk=prompt.pk)


def held(prompt: Prompt) -> Prompt:
    """The row as it is now, held until the transaction ends, and still open.

    Raises:
        UnknownPrompt: It is gone.
        NotPending: It is closed already.
    """
    try:
        current = held_row(prompt)
    except Prompt.DoesNotExist as error:
        raise UnknownPrompt from error
    if current.state != State.PENDING:
        raise NotPending(current.state)
    return current


def pending_for(conversation_key: str) -> list[Prompt]:
    """The open prompts of a conversation that may have been seen, oldest first."""
    prompts = still_open(conversation_key).select_related("obligation").order_by("id")
    return [prompt for prompt in prompts if is_armed(prompt)]


def is_armed(prompt: Prompt) -> bool:
    """Whether its message may have been seen, so that a text can be meant as its answer ([Q22])."""
    if prompt.views:  # it was shown before, or somebody has pressed or answered it
        return True
    obligation = prompt.obligation
    if obligation is None:
        return False
    if shows_at_once(prompt) or obligation.state == DeliveryState.DELIVERED:
        return True
    return may_be_seen(obligation)


def shows_at_once(prompt: Prompt) -> bool:
    """Whether its surface shows what is owed before anybody sends it."""
    return registry.outlet(prompt.destination.platform).shows_at_once


def shown_at(prompt: Prompt) -> datetime:
    """When its message came to be seen; when it was asked, where that is not known."""
    if prompt.obligation is None or shows_at_once(prompt):
        return prompt.created_at
    arrivals = [part.delivered_at for part in prompt.obligation.parts.all() if part.delivered_at]
    return min(arrivals, default=prompt.created_at)


def may_be_seen(obligation: Obligation) -> bool:
    """Whether any of its parts may have reached the platform."""
    return obligation.parts.filter(state__in=MAYBE_SEEN).exists()


def open_to(
    conversation_key: str, answerer: Answerer, *, lane: str, quoted_message_id: str = ""
) -> list[Prompt]:
    """The prompts that a person's words may be meant for, in the order they are to be tried.

    It is the one rule for typed answers and for `/skip`: what is shown where the words were said
    and is theirs to answer, oldest first but for the one whose "Other…" was pressed; an approval
    only if its message is quoted ([Q24]). Words that quote the message of a prompt are for that one
    alone, and for none if it is closed ([Q23]); it may be one of somebody else's conversation in
    the same chat, where an approver rules on it or any member may answer.

    Args:
        conversation_key: Whose conversation.
        answerer: Who speaks.
        lane: Where they speak.
        quoted_message_id: The platform's id of the message they reply to; empty for none.
    """
    meant = quoted(lane, quoted_message_id) if quoted_message_id else None
    if meant is None:
        prompts = pending_for(conversation_key)
        prompts.sort(key=lambda prompt: not prompt.so_far.is_typing)
    else:
        prompts = [meant] if meant.is_open and is_armed(meant) else []
    return [
        prompt
        for prompt in prompts
        if may_answer(prompt, answerer)
        and prompt.lane == lane
        and (meant is not None or not prompt.is_approval)
    ]


def open_below(lane: str, answerer: Answerer) -> list[Prompt]:
    """The questions put to `answerer` in threads of the chat whose lane without a thread this is.

    A word at the top of a private chat may answer what was asked further down in it ([Q27]).
    """
    asked = Prompt.objects.filter(
        lane__startswith=lane, state=State.PENDING, asker_id=answerer.id
    ).exclude(kind=PromptKind.APPROVAL)
    prompts = asked.select_related("obligation").order_by("id")
    return [prompt for prompt in prompts if is_armed(prompt) and may_answer(prompt, answerer)]


def quoted(lane: str, message_id: str) -> Prompt | None:
    """The prompt, open or closed, that the platform message `message_id` of a lane shows."""
    shown = Prompt.objects.filter(lane=lane, obligation__parts__message_id=message_id)
    return shown.select_related("obligation").order_by("-id").first()


def nothing_lately(conversation_key: str, *, now: datetime) -> bool:
    """Whether no prompt of the conversation is open or was closed minutes ago.

    One cheap look that spares most messages the two dear ones.
    """
    return not _any_since(key=conversation_key, since=now - CLOSED_LATELY)


@frozen.exists
def _any_since(*, key: str, since: datetime) -> QuerySet[Prompt]:
    lately = Q(state=State.PENDING) | Q(resolved_at__gte=since)
    return Prompt.objects.filter(lately, conversation_key=key)


def closed_lately(conversation_key: str, *, now: datetime) -> list[Prompt]:
    """The prompts of a conversation that were resolved minutes ago, the last one first ([Q20])."""
    closed = Prompt.objects.filter(
        conversation_key=conversation_key, resolved_at__gte=now - CLOSED_LATELY
    )
    return list(closed.order_by("-resolved_at")[:MOST_CLOSED])


def looks_like_answer(prompt: Prompt, text: str) -> bool:
    """Whether `text` is a bare number or label of `prompt`, and nothing else would make sense.

    Of an approval: whether `text`, which quotes its message, approves or denies.
    """
    if prompt.is_approval:
        return consent.read_consent(text).verdict is not consent.Verdict.UNCLEAR
    return any(choices.looks_like_answer(q, text) for q in prompt.question_set.questions)


def approvals_at(lane: str) -> list[Prompt]:
    """The open approvals that may have been seen in a lane, oldest first."""
    waiting = Prompt.objects.filter(lane=lane, kind=PromptKind.APPROVAL, state=State.PENDING)
    prompts = waiting.select_related("obligation").order_by("id")
    return [prompt for prompt in prompts if is_armed(prompt)]


def approval(number: int, lane: str) -> Prompt | None:
    """The approval of that number, open or closed, if it was asked for in that lane."""
    asked = Prompt.objects.filter(pk=number, lane=lane, kind=PromptKind.APPROVAL)
    return asked.select_related("obligation").first()


def closed_words(prompt: Prompt) -> str:
    """What became of a prompt that is closed, for somebody who comes late."""
    if prompt.is_approval:
        ending = approvals.ending(
            prompt.answers, State(prompt.state), by=prompt.closed_by, words=prompt.words
        )
        return prompt.words.decided_already.format(ending=ending)
    on = "" if prompt.resolved_by_staff else prompt.resolved_on
    return prompt.words.closed(State(prompt.state), prompt.given, by=prompt.closed_by, on=on)

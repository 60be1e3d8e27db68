"""What people do in the Control UI: each verb checks, then makes one call inward."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from clarify import questions
from clarify.approvals import Ruling
from clarify.errors import NotAllowed, UnknownPrompt
from clarify.models import Prompt
from clarify.presenting import clipped
from clarify.questions import Effect
from clarify.schema import Question
from gateway import audit, intake, keys, sessions, turns
from gateway.accounts import CONSOLE
from gateway.console import entries, queries
from gateway.console.entries import Entry
from gateway.console.errors import NotFound, Refused
from gateway.console.viewers import Viewer
from gateway.messages import InboundMessage, clean
from gateway.models import Conversation, InboundEvent, Turn
from gateway.states import OPEN

LONGEST_TEXT = 1_000_000  # characters of one message
LONGEST_ANSWER = 20_000  # characters of one answer
LONGEST_TITLE = 80
CLIENT_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


def say(viewer: Viewer, conversation_id: int, client_id: str, text: str, *, now: datetime) -> Entry:
    """Say something in one of the viewer's own chats, once for each `client_id`.

    Returns:
        The timeline's entry of it.

    Raises:
        NotFound: There is no such conversation for them.
        Refused: It cannot be said there, or at all.
    """
    conversation = queries.find(viewer, conversation_id)
    if not viewer.owns(conversation):
        raise Refused(
            _("This conversation can only be read here; answer its questions, or stop it.")
        )
    if not CLIENT_ID.fullmatch(client_id):
        raise Refused(_("This message carries no usable id."))
    words = clean(text)
    if not words.strip():
        raise Refused(_("There is nothing to send."))
    if len(words) > LONGEST_TEXT:
        raise Refused(
            _("This is too long: %(length)s characters, and %(most)s is the most.")
            % {"length": f"{len(words):,}", "most": f"{LONGEST_TEXT:,}"}
        )
    return entries.inbound(_take(viewer, conversation, client_id, words, now), viewer)


def _take(
    viewer: Viewer, conversation: Conversation, client_id: str, words: str, now: datetime
) -> InboundEvent:
    event = InboundMessage(
        source=viewer.source(conversation.chat_id, message_id=client_id),
        event_id=f"console:{viewer.pk}:{client_id}",
        text=words,
        sent_at=now,
    )
    stored = InboundEvent.objects.filter(account=CONSOLE, event_id=event.event_id)
    if not stored.exists():
        try:
            intake.take(CONSOLE, event, now=now)
        except IntegrityError:  # another tab sent the same message at this very moment
            if not stored.exists():
                raise
        else:
            _name(conversation, words)
    return stored.get()


def _name(conversation: Conversation, words: str) -> None:
    """A chat is called by the first thing said in it."""
    sessions.entitle(conversation, clipped(words, LONGEST_TITLE))


def first_chat(viewer: Viewer, *, now: datetime) -> Conversation:
    """The viewer's chat that was active last; made if they have none."""
    found = viewer.own_conversations().order_by("-active_at").first()
    return found or _open(viewer, viewer.person_id, now)


def new_chat(viewer: Viewer, *, now: datetime) -> Conversation:
    """Another chat of the viewer; an empty one if there is one."""
    own = viewer.own_conversations()
    unused = own.filter(inbound__isnull=True).order_by("pk").first()
    if unused is not None:
        sessions.stir(unused, now=now)
        return unused
    taken = set(own.values_list("chat_id", flat=True))
    number = len(taken) + 1
    while f"{viewer.person_id}-{number}" in taken:
        number += 1
    chat = f"{viewer.person_id}-{number}" if taken else viewer.person_id
    return _open(viewer, chat, now)


def _open(viewer: Viewer, chat_id: str, now: datetime) -> Conversation:
    fields = keys.fields_of(viewer.source(chat_id), keys.Sharing())
    with transaction.atomic():
        return sessions.find_or_open(fields, title="", now=now)


def answer(viewer: Viewer, prompt_id: int, answers: Mapping[str, Any], *, now: datetime) -> Entry:
    """Answer every question of a prompt.

    Args:
        viewer: Who answers.
        prompt_id: Which prompt.
        answers: Labels or own words by the question's key.
        now: The present.

    Returns:
        The prompt's entry, now closed.

    Raises:
        NotFound: There is no such prompt for them.
        Refused: The answers do not fit, or it was closed before; the text says how.
    """
    prompt, conversation = _question(viewer, prompt_id)
    words = {
        question.key: _chosen(question, answers.get(question.key))
        for question in prompt.question_set.questions
    }
    outcome = questions.answer_all(prompt, words, viewer.answerer, now=now)
    if outcome.effect is not Effect.RESOLVED:
        raise Refused(outcome.say)
    _note("prompt.answered_on_behalf", viewer, conversation, f"prompt:{prompt.pk}", now)
    return _closed(prompt, viewer)


def _chosen(question: Question, given: object) -> tuple[str, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str):
        return ()
    words = tuple(dict.fromkeys(clean(word).strip() for word in given if isinstance(word, str)))
    words = tuple(word for word in words if word)
    if any(len(word) > LONGEST_ANSWER for word in words):
        raise Refused(
            _("An answer may have at most %(most)s characters.") % {"most": LONGEST_ANSWER}
        )
    if len(words) > (len(question.options) + 1 if question.multi_select else 1):
        raise Refused(_("Only one answer can be chosen here: %(q)s") % {"q": question.header})
    return words


def skip(viewer: Viewer, prompt_id: int, *, now: datetime) -> Entry:
    """Decline a prompt.

    Returns:
        The prompt's entry, now closed.

    Raises:
        NotFound: There is no such prompt for them.
        Refused: It was closed before; the text says how.
    """
    prompt, conversation = _question(viewer, prompt_id)
    outcome = questions.skip(prompt, viewer.answerer, now=now)
    if outcome.effect is not Effect.RESOLVED:
        raise Refused(outcome.say)
    _note("prompt.skipped_on_behalf", viewer, conversation, f"prompt:{prompt.pk}", now)
    return _closed(prompt, viewer)


def rule(viewer: Viewer, prompt_id: int, ruling: Ruling, *, now: datetime) -> Entry:
    """Approve or deny an operation, in one's own name ([Q19b]).

    Returns:
        The prompt's entry, now closed.

    Raises:
        NotFound: There is no such approval for them.
        Refused: They may not approve it, or it was decided before; the text says which.
    """
    prompt, _conversation = _prompt(viewer, prompt_id)
    if not prompt.is_approval:
        raise Refused(_("This is a question: it takes an answer."))
    try:
        outcome = questions.rule(prompt, _tidy(ruling), viewer.answerer, now=now)
    except NotAllowed as error:
        raise Refused(entries.refusal(viewer)) from error
    except UnknownPrompt as error:
        raise Refused(_("This can only be approved once.")) from error
    if outcome.effect is not Effect.RESOLVED:
        raise Refused(outcome.say)
    return _closed(prompt, viewer)


def _tidy(ruling: Ruling) -> Ruling:
    reason = " ".join(clean(ruling.reason).split())
    return replace(ruling, reason="" if ruling.approved else reason)


def _closed(prompt: Prompt, viewer: Viewer) -> Entry:
    return entries.prompt(Prompt.objects.get(pk=prompt.pk), viewer)


def _question(viewer: Viewer, prompt_id: int) -> tuple[Prompt, Conversation]:
    prompt, conversation = _prompt(viewer, prompt_id)
    if prompt.is_approval:
        raise Refused(_("This waits for an approval: approve it or deny it."))
    return prompt, conversation


def _prompt(viewer: Viewer, prompt_id: int) -> tuple[Prompt, Conversation]:
    prompt = Prompt.objects.select_related("obligation").filter(pk=prompt_id).first()
    visible = viewer.visible_conversations()
    conversation = visible.filter(key=prompt.conversation_key).first() if prompt else None
    if prompt is None or conversation is None:
        raise NotFound(_("There is no such question."))
    if not questions.may_answer(prompt, viewer.answerer):
        raise Refused(_("This question was put to somebody else."))
    return prompt, conversation


def stop(viewer: Viewer, turn_id: int, *, now: datetime) -> int:
    """Stop a turn, and with it everything that is open in its conversation ([T4]).

    Returns:
        How many turns were stopped.

    Raises:
        NotFound: There is no such turn for them.
        Refused: It has ended already; whatever runs now is another turn and goes on.
    """
    visible = viewer.visible_conversations().values("pk")
    found = Turn.objects.filter(pk=turn_id, conversation__in=visible)
    turn = found.select_related("conversation__session").first()
    if turn is None:
        raise NotFound(_("There is no such turn."))
    with transaction.atomic():
        questions.hold(turn.conversation.key)  # prompts before turns, as an answer locks them
        if not Turn.objects.select_for_update().filter(pk=turn.pk, state__in=sorted(OPEN)).exists():
            raise Refused(_("This has ended already."))
        stopped = turns.stop(turn.conversation, by=viewer.answerer, now=now)
    _note("turn.stopped", viewer, turn.conversation, f"turn:{turn.pk}", now)
    return len(stopped)


def _note(
    action: str, viewer: Viewer, conversation: Conversation, subject: str, now: datetime
) -> None:
    """What staff do in the conversations of others stands in the audit log ([A7])."""
    if not viewer.owns(conversation):
        audit.note(
            action, actor=viewer.name, subject=subject, now=now, conversation=conversation.pk
        )

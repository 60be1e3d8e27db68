"""Tasks that the agent does beside a conversation: only writer of that table ([T6]).

Each has a conversation of its own, so it has a history, a stop and a lane in the queue of its own;
its answer goes where it was asked for, and into no chat's history.
"""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from clarify.questions import Answerer
from gateway import sessions, turns
from gateway.commissions import Commission
from gateway.conf import gateway_settings
from gateway.errors import NotPossible
from gateway.messages import ChatType
from gateway.models import Conversation
from gateway.models.turns import OPEN_STATES
from gateway.schedules.asking import Asker
from gateway.schedules.jobs import LONGEST_PROMPT, place_of
from gateway.schedules.models import BackgroundTask


def of_person(asker: Asker) -> list[BackgroundTask]:
    """Somebody's tasks that are not over, the oldest first."""
    mine = BackgroundTask.objects.filter(
        owner_platform=asker.origin.platform, owner_id=asker.id, turn__state__in=OPEN_STATES
    )
    return list(mine.select_related("turn", "conversation").order_by("pk"))


def last_of_person(asker: Asker, most: int) -> list[BackgroundTask]:
    """The latest of somebody's tasks that are over, the last one first."""
    mine = BackgroundTask.objects.filter(
        owner_platform=asker.origin.platform, owner_id=asker.id
    ).exclude(turn__state__in=OPEN_STATES)
    return list(mine.select_related("turn").order_by("-pk")[:most])


def start(words: str, asker: Asker, *, now: datetime) -> BackgroundTask:
    """Queue a task in the caller's transaction; its answer comes back to where it was asked for.

    Raises:
        NotPossible: There is nothing to do, or too much at once.
    """
    if not words.strip():
        raise NotPossible(_("Say what to do: `/background find out when the last train goes`."))
    if len(words) > LONGEST_PROMPT:
        raise NotPossible(
            _("The text is too long: %(most)s characters are the most.") % {"most": LONGEST_PROMPT}
        )
    _refuse_too_many(asker)
    with transaction.atomic():
        task = BackgroundTask(prompt=words, created_at=now, **asker.columns)
        task.save()
        task.conversation = _conversation(task, asker, now)
        task.turn = turns.enqueue(
            turns.NewTurn(
                conversation=task.conversation,
                prompt=words,
                sender_id=asker.id,
                sender_alt=asker.alt,
                sender_name=asker.name,
                reply_to=asker.anchor,
            ),
            now=now,
        )
        task.save(update_fields=["conversation", "turn"])
    return task


def _conversation(task: BackgroundTask, asker: Asker, now: datetime) -> Conversation:
    here = sessions.find_or_open(place_of(ChatType.BACKGROUND, task.pk), title="", now=now)
    told = Commission(
        origin=asker.origin,
        answers=asker.origin,
        trouble=asker.origin,
        label=f"🧵 **{_('Task %(number)s') % {'number': task.pk}}**",
    )
    sessions.commission(here, told, title=task.prompt, language=asker.language)
    return here


def _refuse_too_many(asker: Asker) -> None:
    most = gateway_settings().unattended.background_each
    if len(of_person(asker)) >= most:
        raise NotPossible(
            ngettext(
                "You have %(most)s task under way, and that is the most at once. `/tasks` shows it;"
                " `/tasks stop 3` ends one.",
                "You have %(most)s tasks under way, and that is the most at once. `/tasks` shows"
                " them; `/tasks stop 3` ends one.",
                most,
            )
            % {"most": most}
        )


def stop(number: int, asker: Asker, *, by: Answerer, now: datetime) -> BackgroundTask:
    """End one of somebody's tasks; nothing more is said of it.

    Raises:
        NotPossible: They have no such task under way.
    """
    task = next((task for task in of_person(asker) if task.pk == number), None)
    if task is None or task.conversation is None:
        raise NotPossible(
            _("You have no task %(number)s under way. `/tasks` shows those you have.")
            % {"number": number}
        )
    turns.stop(task.conversation, by=by, now=now)
    return task


def stop_all(asker: Asker, *, by: Answerer, now: datetime) -> int:
    """End all of somebody's tasks; how many."""
    mine = of_person(asker)
    for task in mine:
        stop(task.pk, asker, by=by, now=now)
    return len(mine)


def move_chat(account: str, old_chat_id: str, new_chat_id: str) -> None:
    """Where tasks were asked for is so under its chat's new id."""
    there = BackgroundTask.objects.filter(
        origin__account=account, origin__chat_id=old_chat_id, turn__state__in=OPEN_STATES
    )
    for task in there:
        moved = {**(task.origin or {}), "chat_id": new_chat_id}
        BackgroundTask.objects.filter(pk=task.pk).update(origin=moved)

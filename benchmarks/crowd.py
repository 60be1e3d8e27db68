"""Rows for `benchmarks.pending`, and its look at the sweep; run in the site's own settings.

    python -m benchmarks.crowd ask FIRST COUNT    # COUNT people with an open question each
    python -m benchmarks.crowd answer FIRST COUNT # let these answer: what taking it in costs alone
    python -m benchmarks.crowd sweep DUE          # the sweep with DUE questions past their deadline

What it finds out it prints as JSON.
"""

import json
import os
import sys
import time
from datetime import timedelta

CHUNK = 250  # people to a transaction: whoever serves meanwhile waits for the writer's lock
WARM_UP = 20  # answers that are not counted
FAR = timedelta(days=2)


def ask(first: int, count: int) -> dict:
    from django.utils import timezone

    from clarify.models import Prompt
    from tests.crowds import make_crowd

    began = time.monotonic()
    for start in range(0, count, CHUNK):
        prompts = make_crowd(
            min(CHUNK, count - start), now=timezone.now(), first_chat=first + start
        )
        of_these = Prompt.objects.filter(pk__in=[prompt.pk for prompt in prompts])
        of_these.update(expires_at=timezone.now() + FAR)  # no benchmark lasts that long
    return {"seconds": time.monotonic() - began}


def answer(first: int, count: int) -> dict:
    """Half of them type and half press; each answer is a transaction, as the gateway makes it."""
    from django.utils import timezone

    from clarify import buttons
    from clarify.models import Prompt
    from gateway import intake
    from gateway.messages import ButtonPress, ChatType, InboundMessage, Source

    spent: dict[str, list[float]] = {"cpu": [], "wall": []}
    for number in range(count):
        prompt = Prompt.objects.get(asker_id=str(first + number))
        now = timezone.now()
        source = Source(
            platform="telegram",
            account="telegram",
            chat_type=ChatType.DM,
            chat_id=prompt.asker_id,
            user_id=prompt.asker_id,
            message_id="900",
        )
        data = buttons.button_data(prompt.token, "p0.1")
        event = (
            ButtonPress(source=source, event_id=f"b{prompt.pk}", interaction_id="1", data=data)
            if number % 2
            else InboundMessage(source=source, event_id=f"b{prompt.pk}", text="2", sent_at=now)
        )
        wall, cpu = time.perf_counter(), time.thread_time()
        intake.take("telegram", event, now=now)
        if number >= WARM_UP:
            spent["cpu"].append(1000 * (time.thread_time() - cpu))
            spent["wall"].append(1000 * (time.perf_counter() - wall))
        prompt.refresh_from_db()
        assert prompt.state == "answered"
    return spent


def sweep(due: int) -> dict:
    from django.db import connection
    from django.utils import timezone

    from clarify import questions
    from clarify.models import Prompt

    later = timezone.now() + FAR / 2
    crowd = Prompt.objects.filter(state="pending", expires_at__gt=later).order_by("pk")

    def make_late(count: int) -> None:
        late = list(crowd.values_list("pk", flat=True)[:count])
        Prompt.objects.filter(pk__in=late).update(expires_at=later - timedelta(hours=1))

    pending = Prompt.objects.filter(state="pending").count()
    asked = Prompt.objects.filter(state="pending", expires_at__lte=later).count()
    assert asked == 0, f"{asked} questions of the people asked for real are still open"
    make_late(1)
    questions.expire_overdue(now=later)  # what is imported late is imported now
    make_late(due)
    overdue = Prompt.objects.filter(state="pending", expires_at__lte=later)
    plan = overdue.select_related("obligation").order_by("expires_at")[:200].explain()
    times = []
    for _ in range(1 if due else 20):
        began = time.perf_counter()
        closed = questions.expire_overdue(now=later)
        times.append(time.perf_counter() - began)
    assert closed == due
    began = time.perf_counter()
    questions.close_undeliverable(now=later)
    unseen = time.perf_counter() - began
    return {
        "database": connection.vendor,
        "pending": pending,
        "milliseconds": 1000 * min(times),
        "unseen_milliseconds": 1000 * unseen,
        "plan": plan,
    }


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hermes_site.settings")
    import django

    django.setup()
    verb, *numbers = sys.argv[1:]
    does = {"ask": ask, "answer": answer, "sweep": sweep}[verb]
    print(json.dumps(does(*map(int, numbers))))


if __name__ == "__main__":
    main()

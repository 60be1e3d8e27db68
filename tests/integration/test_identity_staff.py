"""What staff do about pairings and links: in the admin, and at a shell."""

import re

import pytest
from django.core.management.base import CommandError
from django.urls import reverse
from django.utils import timezone

from gateway.identity.models import Link, LinkEnd, Pairing, StrangerPolicy
from gateway.models import AllowEntry, AuditEvent
from tests.factories import make_staff
from tests.fakes.clock import FakeClock
from tests.integration.commanding import run
from tests.integration.door import Door, fresh, said

pytestmark = pytest.mark.django_db(transaction=True)

STRANGER = {"user_id": "9", "chat_id": "9", "user_name": "Eve"}
CODE = re.compile(r"`([2-9A-Z]{4}-[2-9A-Z]{4})`")


@pytest.fixture
def door() -> Door:
    return Door(FakeClock(timezone.now()))


@pytest.fixture
def code(door: Door) -> str:
    door.say(**STRANGER)
    return CODE.search(said()[-1]).group(1)


@pytest.fixture
def page(client):
    client.force_login(make_staff())
    return client


def make_link(**changes) -> Link:
    now = timezone.now()
    link = Link.objects.create(state="linked", asked_at=now, expires_at=now, linked_at=now)
    for is_first, user in ((True, "7"), (False, "88")):
        address = {
            "platform": "telegram",
            "account": "telegram",
            "scope_id": "",
            "chat_type": "dm",
            "chat_id": user,
            "thread_id": "",
        }
        facts = {"platform": "telegram", "account": "telegram", "user_id": user}
        LinkEnd.objects.create(link=link, is_first=is_first, address=address, **facts)
    return link


def do(page, model: str, action: str, row, **given):
    chosen = {"action": action, "_selected_action": [row.pk], "index": 0}
    url = reverse(f"admin:identity_{model}_changelist")
    return page.post(url, chosen | given, follow=True)


# --- in the admin


@pytest.mark.proves("A2")
def test_staff_let_somebody_in_by_the_code_after_they_are_asked(page, door, code) -> None:
    row = Pairing.objects.get()
    asked = do(page, "pairing", "approve", row)
    assert "Let this person in?" in asked.text
    assert fresh(row).state == "asked"

    done = do(page, "pairing", "approve", row, confirmed="1", code=code, role="approver")

    assert "let in as approver" in done.text
    assert (fresh(row).state, fresh(row).role, fresh(row).decided_by) == (
        *("paired", "approver", "boss"),
    )


@pytest.mark.proves("A2")
def test_a_wrong_code_is_refused_on_the_page_and_counted(page, door, code) -> None:
    row = Pairing.objects.get()

    answer = do(page, "pairing", "approve", row, confirmed="1", code="AAAA-AAAA", role="member")

    assert "No request that waits has this code" in answer.text
    assert (fresh(row).state, fresh(row).wrong_tries) == ("asked", 1)


def test_the_list_says_who_asks_and_that_is_seen(page, door, code) -> None:
    answer = page.get(reverse("admin:identity_pairing_changelist"))

    assert "Eve [9]" in answer.text
    assert code not in answer.text
    assert Pairing.objects.get().seen_at is not None


def test_the_page_of_a_request_offers_what_can_be_done(page, door, code) -> None:
    answer = page.get(reverse("admin:identity_pairing_change", args=[Pairing.objects.get().pk]))
    assert ("Approve…" in answer.text, "Revoke…" in answer.text) == (True, False)


@pytest.mark.proves("A2")
def test_staff_take_a_pairing_back(page, door, code) -> None:
    row = Pairing.objects.get()
    do(page, "pairing", "approve", row, confirmed="1", code=code, role="member")
    turn = door.say(**STRANGER).turn

    do(page, "pairing", "revoke", row, confirmed="1")

    assert fresh(turn).state == "stopped"
    assert door.say(**STRANGER).decision == "denied"


def test_staff_refuse_a_request(page, door, code) -> None:
    do(page, "pairing", "refuse", Pairing.objects.get(), confirmed="1")
    assert Pairing.objects.get().reason == "refused by boss"


@pytest.mark.proves("A7")
def test_a_rule_for_strangers_has_its_audit_row(page, door) -> None:
    url = reverse("admin:identity_strangerpolicy_add")
    page.post(url, {"account": "telegram", "most_waiting": "5"})

    rule = StrangerPolicy.objects.get()
    assert (rule.pairing, rule.most_waiting) == (False, 5)
    row = AuditEvent.objects.get(action="pairing.rule_set")
    assert row.detail == {"pairing": False, "most_waiting": 5}
    page.post(reverse("admin:identity_strangerpolicy_delete", args=[rule.pk]), {"post": "yes"})
    assert AuditEvent.objects.filter(action="pairing.rule_removed").exists()


@pytest.mark.proves("A5")
def test_staff_end_a_link(page, door) -> None:
    link = make_link()
    assert "[88]" in page.get(reverse("admin:identity_link_changelist")).text
    assert "88" in page.get(reverse("admin:identity_link_change", args=[link.pk])).text

    do(page, "link", "unlink", link, confirmed="1")

    assert fresh(link).state == "ended"
    assert AuditEvent.objects.get(action="link.ended").actor == "boss"


def test_an_entry_names_commands_that_there_are(page, door) -> None:
    url = reverse("admin:gateway_allowentry_add")
    facts = {"platform": "telegram", "user_id": "9", "role": "admin", "commands": "/Status nope"}
    assert "There is no command nope" in page.post(url, facts).text

    page.post(url, facts | {"commands": "/Status help"})

    assert AllowEntry.objects.get(user_id="9").commands == "help status"


# --- at a shell


@pytest.mark.proves("A2")
def test_a_code_is_approved_at_a_shell(door, code) -> None:
    assert "Eve" in run("pairing", "list")
    assert code not in run("pairing", "list")

    assert "may speak from now on" in run("pairing", "approve", code.lower())

    assert "paired" in run("pairing", "list")
    assert door.say(**STRANGER).decision == "turn"


@pytest.mark.parametrize("name", ["number", "id", "code"])
def test_a_pairing_is_revoked_by_number_id_or_code(door, code, name) -> None:
    run("pairing", "approve", code)
    names = {"number": f"#{Pairing.objects.get().pk}", "id": "9", "code": code}

    assert "not paired any more" in run("pairing", "revoke", names[name])

    assert door.say(**STRANGER).decision == "denied"
    assert "revoked" not in run("pairing", "list")
    assert "revoked" in run("pairing", "list", "--all")


def test_a_request_is_refused_at_a_shell(door, code) -> None:
    assert "came to nothing" in run("pairing", "refuse", "9")


@pytest.mark.parametrize(
    "words",
    [
        ("pairing", "approve", "AAAA-AAAA"),
        ("pairing", "approve", "AAAA-AAAA", "--account", "nowhere"),
        ("pairing", "revoke", "nobody"),
        ("pairing", "revoke", "#0"),
        ("links", "revoke", "0"),
    ],
)
def test_what_is_not_there_is_named_in_one_sentence(words) -> None:
    with pytest.raises(CommandError):
        run(*words)


def test_nobody_asks_and_nobody_is_linked() -> None:
    assert "Nobody asks" in run("pairing", "list")
    assert "Nobody is linked" in run("links", "list")


@pytest.mark.proves("A5")
def test_a_link_is_ended_at_a_shell(door) -> None:
    link = make_link()
    assert "[88] on telegram" in run("links", "list")

    assert "has ended" in run("links", "revoke", str(link.pk))

    assert "[88]" not in run("links", "list")
    assert "ended" in run("links", "list", "--all")


@pytest.mark.proves("A6")
def test_an_entry_is_bound_at_a_shell_to_commands_and_risk() -> None:
    said_first = run("allow", "add", "telegram", "9", "--commands", "status help")
    assert "give these commands only: status help" in said_first
    said_then = run("allow", "add", "telegram", "9", "--role", "viewer", "--tools-up-to", "low")
    assert "read how things stand" in said_then

    assert AllowEntry.objects.count() == 2
    assert "up to low" in run("allow", "list")
    run("allow", "remove", "telegram", "9", "--commands", "status help")
    assert AllowEntry.objects.get().commands == ""


# --- every page


@pytest.mark.parametrize("model", ["pairing", "link", "strangerpolicy"])
def test_every_list_is_searched_and_escapes_what_people_wrote(page, door, model) -> None:
    door.say(**(STRANGER | {"user_name": "<script>alert('x')</script>"}))
    LinkEnd.objects.filter(link=make_link()).update(user_name="<script>alert('x')</script>")
    StrangerPolicy.objects.create(account="telegram")
    url = reverse(f"admin:identity_{model}_changelist")

    answers = [page.get(url + query) for query in ("", "?q=9", "?q=x%27y", "?p=0")]

    assert [answer.status_code for answer in answers] == [200] * 4
    assert not any("<script>alert" in answer.text for answer in answers)


@pytest.mark.proves("A5")
def test_staff_let_two_chats_go_on_with_one_history_and_apart(page, door) -> None:
    link = make_link()
    do(page, "link", "share", link, confirmed="1")
    assert fresh(link).shares
    done = do(page, "link", "part", link, confirmed="1")
    assert not fresh(link).shares
    assert "apart" in done.text
    assert "is kept so already" in do(page, "link", "part", link, confirmed="1").text

"""[I3]: what staff set up is carried from one installation to another, and back again."""

import json

import pytest
from django.core.management.base import CommandError
from django.utils import timezone

from gateway import chats, vault
from gateway.configuration import carrying, document
from gateway.configuration.document import NotAConfiguration
from gateway.configuration.sealing import Seal
from gateway.errors import NotPossible
from gateway.models import Account, AllowEntry, AuditEvent, ChatPolicy, HomeChannel
from tests import factories
from tests.integration.commanding import TOKEN, run

pytestmark = [pytest.mark.django_db, pytest.mark.proves("I3")]
PASSPHRASE = "correct horse battery"


@pytest.fixture
def filled():
    """An installation with one of everything."""
    factories.make_account("bot", secret=vault.lock(TOKEN), options={"proxy": "http://u:pw@x:1"})
    factories.make_account("off", secret=vault.lock(TOKEN[:-1] + "C"), is_enabled=False)
    factories.make_account("env", secret=vault.lock("x"), from_environment=True)
    factories.make_allow_entry(user_id="41", note="Ada", role="approver")
    factories.make_allow_entry(user_id="42", from_environment=True)
    ChatPolicy.objects.create(account="bot", chat_id="-5", busy="collect", hour=4)
    home = factories.make_conversation(account="bot", chat_id="77").address
    chats.make_home(home, by="boss", now=timezone.now())


@pytest.fixture
def file(tmp_path):
    """Writes a document where `import` finds it."""

    def write(text: str) -> str:
        path = tmp_path / "hermes.json"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def empty() -> None:
    for model in (Account, AllowEntry, ChatPolicy, HomeChannel, AuditEvent):
        model.objects.all().delete()


def sealed(monkeypatch) -> str:
    return run(
        "export", "--secrets", "--passphrase-stdin", stdin=PASSPHRASE, monkeypatch=monkeypatch
    )


def bring(path: str, *words: str, monkeypatch, passphrase: str = PASSPHRASE) -> str:
    secrets = ("--secrets", "--passphrase-stdin")
    return run("import", path, *secrets, *words, stdin=passphrase, monkeypatch=monkeypatch)


def test_an_export_holds_what_staff_set_up_and_no_credential(filled) -> None:
    text = run("export")

    found = json.loads(text)
    assert [item["name"] for item in found["accounts"]] == ["bot", "off"]
    assert [item["user_id"] for item in found["allowlist"]] == ["41"]
    assert found["chats"][0]["busy"] == "collect"
    assert found["homes"][0]["address"]["chat_id"] == "77"
    assert TOKEN not in text
    assert "pw" not in text
    assert "secret" not in text


def test_with_a_passphrase_everything_comes_back_in_another_installation(
    filled, file, monkeypatch, settings
) -> None:
    text = sealed(monkeypatch)
    assert TOKEN not in text
    before = document.check(carrying.opened(json.loads(text), PASSPHRASE))
    empty()
    settings.SECRET_KEY = "another installation " * 3

    bring(file(text), monkeypatch=monkeypatch)

    after = carrying.opened(carrying.export(seal=Seal(PASSPHRASE)), PASSPHRASE)
    assert {place: after[place] for place in document.SHAPES} == {
        place: before[place] for place in document.SHAPES
    }
    bot = Account.objects.get(slug="bot")
    assert vault.unlock(bot.secret) == TOKEN
    assert bot.options["proxy"] == "http://u:pw@x:1"
    assert Account.objects.get(slug="off").is_enabled is False
    assert set(AuditEvent.objects.values_list("action", flat=True)) >= {
        "account.added",
        "account.disabled",
        "allow.added",
        "chat.set",
        "home.set",
    }


def test_importing_twice_changes_nothing_the_second_time(filled, file, monkeypatch) -> None:
    path = file(sealed(monkeypatch))
    rows = AuditEvent.objects.count()

    assert "Nothing differs." in bring(path, monkeypatch=monkeypatch)
    assert "Nothing differs." in run("import", file(run("export")))
    assert AuditEvent.objects.count() == rows


def test_a_dry_run_shows_what_would_change_and_changes_nothing(filled, file) -> None:
    found = json.loads(run("export"))
    found["allowlist"][0]["role"] = "member"
    found["allowlist"].append({"platform": "telegram", "user_id": "99"})
    found["chats"][0]["hour"] = 5

    shown = run("import", file(json.dumps(found)), "--dry-run")

    assert shown.splitlines() == [
        "~ allowlist: telegram * * * 41",
        "    role: 'approver' → 'member'",
        "+ allowlist: telegram * * * 99",
        "~ chats: bot -5",
        "    hour: 4 → 5",
        "3 things would change; nothing is changed.",
    ]
    assert AllowEntry.objects.get(user_id="41").role == "approver"

    assert "3 of 3 changes are made." in run("import", file(json.dumps(found)))
    assert AllowEntry.objects.get(user_id="41").role == "member"
    assert AllowEntry.objects.get(user_id="41").note == "Ada"
    assert AllowEntry.objects.filter(user_id="99").exists()
    assert ChatPolicy.objects.get().hour == 5


def test_a_diff_shows_no_credential(filled, file, monkeypatch) -> None:
    path = file(sealed(monkeypatch))
    Account.objects.filter(slug="bot").update(secret=vault.lock(TOKEN[:-1] + "D"))

    shown = bring(path, "--dry-run", monkeypatch=monkeypatch)

    assert "secret: •••• → ••••" in shown
    assert TOKEN[:-1] not in shown


def test_what_is_only_here_and_what_the_file_is_silent_about_stay(filled, file) -> None:
    wanted = {"format": document.FORMAT, "version": 1, "chats": [{"account": "bot"}]}

    run("import", file(json.dumps(wanted)))

    assert Account.objects.count() == 3
    assert ChatPolicy.objects.count() == 2
    assert vault.unlock(Account.objects.get(slug="bot").secret) == TOKEN


def test_an_account_without_its_credential_is_named_and_the_rest_is_done(filled, file) -> None:
    text = run("export")
    empty()

    with pytest.raises(CommandError, match=r"manage\.py account add bot telegram"):
        run("import", file(text))

    assert AllowEntry.objects.count() == 1
    assert ChatPolicy.objects.count() == 1
    assert not Account.objects.filter(slug="bot").exists()


def test_what_is_wrong_with_one_thing_is_said_and_the_rest_is_done(filled, file) -> None:
    found = json.loads(run("export"))
    found["allowlist"] += [
        {"platform": "telegram", "user_id": "@name"},
        {"platform": "telegram", "user_id": "43"},
    ]
    found["chats"].append({"account": "", "chat_id": "5"})
    found["homes"].append({"account": "bot2", "address": {"what": "x"}})

    with pytest.raises(CommandError) as refused:
        run("import", file(json.dumps(found)))

    told = str(refused.value)
    assert "telegram * * * @name" in told
    assert "Name the account as well" in told
    assert "homes: bot2" in told
    assert AllowEntry.objects.filter(user_id="43").exists()


def test_another_passphrase_opens_nothing_and_changes_nothing(filled, file, monkeypatch) -> None:
    path = file(sealed(monkeypatch))
    empty()

    with pytest.raises(CommandError, match="does not open"):
        bring(path, monkeypatch=monkeypatch, passphrase="some other words")
    assert not AllowEntry.objects.exists()
    with pytest.raises(NotPossible, match="12 characters"):
        Seal("short")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no JSON, at line 1"),
        ("[]", "This is no configuration"),
        ('{"format": "hermes-configuration", "version": 2}', "Its version is 2"),
        ('{"format": "hermes-configuration", "version": 1, "users": []}', "nobody here knows: us"),
        ('{"format": "hermes-configuration", "version": 1, "chats": {}}', "must be a list"),
        (
            '{"format": "hermes-configuration", "version": 1, "chats": [{"hours": 4}]}',
            "chats, item 1: there is no field hours.",
        ),
        (
            '{"format": "hermes-configuration", "version": 1, "chats": [{"hour": "4"}]}',
            "chats, item 1: hour cannot be '4'.",
        ),
        (
            '{"format": "hermes-configuration", "version": 1, "chats": [{}, {"account": ""}]}',
            "chats, item 2: it stands there twice.",
        ),
        (
            '{"format": "hermes-configuration", "version": 1, "accounts": [{"options": {"x": 1}}]}',
            "the values in options must be texts.",
        ),
    ],
)
def test_a_file_that_is_no_configuration_is_refused_with_where_and_why(file, text, words) -> None:
    with pytest.raises(CommandError) as refused:
        run("import", file(text))

    assert words in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        run("import", str(tmp_path / "none.json"))
    with pytest.raises(NotAConfiguration):
        document.check({})

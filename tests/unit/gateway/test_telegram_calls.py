"""What Bot API calls are made of, what their refusals mean, and what staff may set."""

from typing import Any

import pytest

from delivery.addresses import Address
from delivery.content import Button, Controls, Limit, Rendered, Unit
from delivery.errors import (
    AnchorGone,
    AuthenticationRefused,
    DestinationGone,
    DestinationMoved,
    FormattingRefused,
    MessageGone,
    NetworkDown,
    OutcomeUnknown,
    RateLimited,
    Refused,
    ThreadGone,
    TooOld,
    TransportError,
)
from delivery.ports import Certainty, OutgoingPart
from gateway.messages import ButtonPress, ChatType, Source
from gateway.platforms.telegram import calls, conf, platform, refusals
from gateway.ports import AccountConfig

TOKEN = "123456:TESTTESTTEST"


def part(thread_id: str = "", chat_type: str = "group", **fields: Any) -> OutgoingPart:
    return OutgoingPart(
        address=Address(
            platform="telegram",
            account="main",
            chat_type=chat_type,
            chat_id="-1001",
            thread_id=thread_id,
        ),
        body=Rendered(text="hi", plain="hi", length=2),
        idempotency_key="k",
        **fields,
    )


def meaning(status: int, description: str = "", scope: str = "chat", **parameters: Any):
    return refusals.refusal(status, description, parameters, scope=scope)


def found(secret: str = TOKEN, **options: str) -> list[str]:
    return conf.problems(AccountConfig(slug="main", secret=secret, options=options))


# --- calls --------------------------------------------------------------------------------------


def test_a_plain_message_needs_little():
    expected = {"chat_id": "-1001", "text": "hi", "link_preview_options": {"is_disabled": True}}

    assert calls.send_message(part()) == expected


@pytest.mark.parametrize(
    ("thread_id", "chat_type", "named"),
    [("7", "group", "7"), ("1", "group", None), ("1", "dm", "1"), ("", "group", None)],
)
def test_a_topic_is_named_unless_it_is_the_general_one(
    thread_id: str, chat_type: str, named: str | None
):
    assert calls.send_message(part(thread_id, chat_type)).get("message_thread_id") == named


def test_typing_names_the_general_topic_too():
    assert calls.send_chat_action(part("1").address)["message_thread_id"] == "1"
    assert "message_thread_id" not in calls.send_chat_action(part().address)


def test_an_answer_insists_on_the_message_it_answers():
    assert calls.send_message(part(reply_to="41"))["reply_parameters"] == {"message_id": 41}


@pytest.mark.parametrize("message_id", ["x", "-1", "1.5", "١", " 1"])
def test_what_is_no_message_id_is_not_sent_to_telegram(message_id: str):
    with pytest.raises(AnchorGone):
        calls.send_message(part(reply_to=message_id))
    with pytest.raises(MessageGone):
        calls.edit_message_text(message_id, part())
    with pytest.raises(MessageGone):
        calls.delete_message(part().address, message_id)


def test_buttons_go_before_an_invitation_to_type():
    row = (Button(label="yes", data="y"),)
    markup = calls.send_message(part(controls=Controls(rows=(row,), force_reply=True)))

    assert markup["reply_markup"] == {"inline_keyboard": [[{"text": "yes", "callback_data": "y"}]]}


def test_an_invitation_is_for_the_one_who_is_answered():
    controls = Controls(force_reply=True, placeholder="p" * 100)
    markup = calls.send_message(part(controls=controls, reply_to="4"))["reply_markup"]

    assert markup == {
        "force_reply": True,
        "selective": True,
        "input_field_placeholder": "p" * 64,
    }


def test_an_edit_names_buttons_only_to_set_or_to_clear_them():
    assert "reply_markup" not in calls.edit_message_text("4", part())
    assert "reply_markup" not in calls.edit_message_text(
        "4", part(controls=Controls(force_reply=True))
    )
    cleared = calls.edit_message_text("4", part(controls=Controls(clear=True)))
    assert cleared["reply_markup"] == {"inline_keyboard": []}


@pytest.mark.parametrize(
    ("text", "sent"), [("", None), ("x" * 200, "x" * 200), ("x" * 201, "x" * 199 + "…")]
)
def test_a_notice_is_cut_to_what_it_may_hold(text: str, sent: str | None):
    source = Source(
        platform="telegram", account="m", chat_type=ChatType.DM, chat_id="1", user_id="1"
    )
    press = ButtonPress(source=source, event_id="1", interaction_id="9", data="x")

    assert calls.answer_callback_query(press, text, alert=False).get("text") == sent


def test_the_first_poll_names_no_offset():
    assert "offset" not in calls.get_updates("", wait_seconds=30)
    assert calls.get_updates("8", wait_seconds=30)["offset"] == "8"


def test_reactions_are_asked_for_by_name():
    assert "message_reaction" in calls.get_updates("", wait_seconds=0)["allowed_updates"]


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "description", "family"),
    [
        (400, "Bad Request: message thread not found", ThreadGone),
        (400, "Bad Request: TOPIC_CLOSED", ThreadGone),
        (400, "Bad Request: message to be replied not found", AnchorGone),
        (400, "Bad Request: message to edit not found", MessageGone),
        (400, "Bad Request: message to delete not found", MessageGone),
        (400, "Bad Request: MESSAGE_ID_INVALID", MessageGone),
        (400, "Bad Request: message can't be edited", TooOld),
        (400, "Bad Request: message can't be deleted for everyone", TooOld),
        (400, "Bad Request: query is too old and response timeout expired", TooOld),
        (400, "Bad Request: chat not found", DestinationGone),
        (400, "Bad Request: PEER_ID_INVALID", DestinationGone),
        (400, "Bad Request: not enough rights to send text messages to the chat", DestinationGone),
        (403, "Forbidden: bot was blocked by the user", DestinationGone),
        (403, "Forbidden: bot was kicked from the supergroup chat", DestinationGone),
        (403, "Forbidden: user is deactivated", DestinationGone),
        (400, "Bad Request: can't parse entities: Can't find end", FormattingRefused),
        (400, "Bad Request: ENTITY_BOUNDS_INVALID", FormattingRefused),
        (400, "Bad Request: message is too long", Refused),
        (400, "Bad Request: message text is empty", Refused),
        (400, "Bad Request: BUTTON_DATA_INVALID", Refused),
        (413, "Request Entity Too Large", Refused),
        (401, "Unauthorized", AuthenticationRefused),
        (404, "Not Found", AuthenticationRefused),
        (409, "Conflict: terminated by other getUpdates request", NetworkDown),
        (500, "Internal Server Error", NetworkDown),
        (503, "Service Unavailable", NetworkDown),
        (500, "Internal Server Error: restart", OutcomeUnknown),
        (500, "Internal Server Error: request aborted", OutcomeUnknown),
        (502, "Bad Gateway", OutcomeUnknown),
        (504, "Gateway Timeout", OutcomeUnknown),
    ],
)
def test_every_refusal_says_what_to_do_next(
    status: int, description: str, family: type[TransportError]
):
    error = meaning(status, description)

    assert type(error) is family
    assert error.code == str(status)


def test_a_group_that_moved_says_where_to():
    error = meaning(400, "Bad Request: group chat was upgraded", migrate_to_chat_id=-1009)

    assert isinstance(error, DestinationMoved)
    assert error.new_chat_id == "-1009"


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        (7, 7.0),
        (0, 1.0),
        (None, 1.0),
        ("soon", 1.0),
        (-3, 1.0),
        (10**400, 86_400.0),
        (float("inf"), 86_400.0),
        (float("nan"), 1.0),
    ],
)
def test_a_flood_is_waited_for_even_if_it_does_not_say_how_long(asked: Any, seconds: float):
    error = meaning(429, "Too Many Requests", "account", retry_after=asked)

    assert isinstance(error, RateLimited)
    assert (error.retry_after, error.scope) == (seconds, "account")


@pytest.mark.parametrize(
    ("status", "family"),
    [
        (200, OutcomeUnknown),
        (302, NetworkDown),
        (403, NetworkDown),
        (407, NetworkDown),
        (500, NetworkDown),
        (502, OutcomeUnknown),
        (504, OutcomeUnknown),
    ],
)
def test_an_answer_of_a_proxy_kills_no_destination(status: int, family: type[TransportError]):
    assert type(refusals.not_telegram(status)) is family


def test_what_quotes_the_message_is_left_out():
    error = meaning(400, 'Bad Request: can\'t parse entities: Unsupported start tag "my words"')

    assert "my words" not in str(error)


def test_an_edit_to_the_same_is_known():
    assert refusals.is_not_modified("Bad Request: message is not modified: specified new")
    assert not refusals.is_not_modified("Bad Request: message to edit not found")


# --- settings -----------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [TOKEN, "123456789:AAPeerTokenThatOpensNothingAnywhere_"])
def test_a_token_that_looks_like_one_is_fine(token: str):
    assert found(token) == []


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("", "missing"),
        ("  ", "missing"),
        ("undefined", "placeholder"),
        ("your-token-here", "placeholder"),
        ("YOUR_BOT_TOKEN", "placeholder"),
        ("<token>", "placeholder"),
        ("${TELEGRAM_BOT_TOKEN}", "placeholder"),
        ("123456", "does not look like one"),
        ("123456:short", "does not look like one"),
        (f'"{TOKEN}"', "does not look like one"),
        (f"{TOKEN}\n", "does not look like one"),
        (f"bot{TOKEN}", "does not look like one"),
    ],
)
def test_a_token_that_cannot_be_one_is_named(token: str, words: str):
    (problem,) = found(token)

    assert words in problem
    assert TOKEN not in problem


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("api_base_url", "api.telegram.org"),
        ("api_base_url", "ftp://host"),
        ("api_base_url", "http://[broken"),
        ("api_base_url", "https://api.telegram.org/bot123:abc"),
        ("file_base_url", "/file"),
        ("proxy", "host:3128"),
        ("proxy", "tor://host"),
        ("poll_seconds", "51"),
        ("poll_seconds", "-1"),
        ("poll_seconds", "a while"),
        ("answer_seconds", "0"),
        ("answer_seconds", "inf"),
    ],
)
def test_a_setting_that_cannot_work_is_named(name: str, value: str):
    (problem,) = found(**{name: value})

    assert problem.startswith(name)


def test_settings_that_work_are_fine():
    assert (
        found(
            api_base_url="http://127.0.0.1:8081/",
            file_base_url="http://127.0.0.1:8081/file",
            proxy="socks5://127.0.0.1:1080",
            poll_seconds="50",
            answer_seconds="0.5",
        )
        == []
    )


def test_settings_have_defaults():
    options = conf.read(AccountConfig(slug="main", secret=TOKEN, options={"proxy": " "}))

    assert options == conf.Options(
        base_url="https://api.telegram.org/bot",
        base_file_url="https://api.telegram.org/file/bot",
        proxy="",
        poll_seconds=30,
        answer_seconds=15.0,
        commands=(),
    )


def test_files_come_from_the_server_of_ones_own_unless_said_otherwise():
    own = {"api_base_url": "http://host:8081/"}
    read = conf.read(AccountConfig(slug="main", secret=TOKEN, options=own))

    assert (read.base_url, read.base_file_url) == (
        "http://host:8081/bot",
        "http://host:8081/file/bot",
    )


def test_a_menu_is_made_fit_for_telegram():
    lines = (
        "/new - Start  again\nDeep-Think - Think\nbad name - x\nempty - \n\nnew - twice\nno dash"
    )

    assert conf.read_commands(lines) == (("new", "Start  again"), ("deep_think", "Think"))


def test_a_written_menu_reads_back():
    pairs = [("new", "Start\nagain"), ("stop", "Stop - now")]

    assert conf.read_commands(conf.write_commands(pairs)) == (
        ("new", "Start again"),
        ("stop", "Stop - now"),
    )


def test_a_menu_holds_a_hundred_commands():
    lines = conf.write_commands([(f"c{number}", "x" * 300) for number in range(120)])
    menu = conf.read_commands(lines)

    assert (len(menu), len(menu[0][1])) == (100, 256)


def test_every_setting_says_what_it_is():
    assert all(setting.title and setting.help for setting in conf.SETTINGS)
    assert [setting.name for setting in conf.SETTINGS if setting.is_required] == ["secret"]


def test_telegram_states_what_it_can_do():
    able = platform.capabilities

    assert (platform.kind, able.limit) == ("telegram", Limit(4096, Unit.UTF16))
    assert (able.certainty, able.callback_data_bytes) == (Certainty.UNCERTAIN, 64)
    assert all((able.editing, able.typing, able.buttons, able.threads))

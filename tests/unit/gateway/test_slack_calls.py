"""The parameters of Slack's calls, what its refusals mean, and what staff may set."""

import json
import re
from pathlib import Path

import pytest

from delivery.addresses import Address
from delivery.content import Button, ButtonStyle, Controls, Rendered
from delivery.errors import (
    AuthenticationRefused,
    DestinationGone,
    FormattingRefused,
    MessageGone,
    NetworkDown,
    OutcomeUnknown,
    RateLimited,
    Refused,
    ThreadGone,
    TooOld,
)
from delivery.ports import OutgoingPart
from gateway.messages import ButtonPress, ChatType, Form, Source
from gateway.platforms.slack import calls, conf, files, platform, refusals
from gateway.ports import AccountConfig
from tests.peers.slack import blocks


def part(text: str = "hello", thread: str = "", **fields) -> OutgoingPart:
    address = Address(
        platform="slack", account="main", scope_id="T1", chat_id="C1", thread_id=thread
    )
    body = Rendered(text=text, plain=text, length=len(text))
    return OutgoingPart(address=address, body=body, idempotency_key="k1", **fields)


def row(*labels: str, **fields) -> Controls:
    return Controls(rows=(tuple(Button(label=one, data=f"d{one}", **fields) for one in labels),))


def press(interaction_id: str = "1.2.x https://hooks.slack.com/x") -> ButtonPress:
    source = Source(
        platform="slack",
        account="main",
        scope_id="T1",
        chat_type=ChatType.GROUP,
        chat_id="C1",
        thread_id="7.1",
        user_id="U1",
    )
    return ButtonPress(
        source=source, event_id="e", interaction_id=interaction_id, data="d", message_id="8.1"
    )


@pytest.mark.proves("S1")
def test_a_message_into_a_thread_is_whole():
    """B160: the thread stands in the address, before and after a restart."""
    assert calls.post_message(part(thread="1700.10")) == {
        "channel": "C1",
        "text": "hello",
        "thread_ts": "1700.10",
        "metadata": {"event_type": "hermes_gateway_part", "event_payload": {"delivery": "k1"}},
        "unfurl_links": False,
        "unfurl_media": False,
    }


def test_a_message_that_answers_another_is_not_put_below_it():
    assert "thread_ts" not in calls.post_message(part(reply_to="5.1"))


def test_controls_stand_below_the_words():
    said, actions = calls.post_message(part(controls=row("Yes", "No"), thread="7.1"))["blocks"]

    assert said == {"type": "section", "text": {"type": "mrkdwn", "text": "hello"}}
    assert actions["block_id"] == "0|T1|7.1"
    assert [one["value"] for one in actions["elements"]] == ["dYes", "dNo"]


def test_more_buttons_than_a_block_holds_are_taken_by_slack():
    many = row(*(str(number) for number in range(60)))
    drawn = calls.post_message(part(controls=many))["blocks"]
    blocks.check(drawn)

    assert [len(block["elements"]) for block in drawn[1:]] == [25, 25, 10]


def test_the_styles_of_buttons_are_told():
    styles = {
        style: calls.post_message(part(controls=row("a", style=style)))["blocks"][1]["elements"][0]
        for style in ButtonStyle
    }

    assert [drawn.get("style") for drawn in styles.values()] == [None, "primary", "danger"]


def test_an_edit_without_controls_takes_them_away():
    assert calls.update("8.1", part(controls=Controls(clear=True)))["blocks"] == []


@pytest.mark.parametrize("message_id", ["", "preview-1", "file:F1", "1700"])
def test_what_is_no_ts_names_no_message(message_id: str):
    with pytest.raises(MessageGone):
        calls.update(message_id, part())
    with pytest.raises(MessageGone):
        calls.delete(part().address, message_id)


@pytest.mark.proves("Q14")
def test_a_form_knows_what_it_answers_and_is_taken_by_slack():
    form = Form(
        title="T" * 40, label="L" * 3000, placeholder="P" * 300, submit="Send", cancel="Back"
    )
    asked = calls.open_view(press(), form, at=5.5)
    blocks.check_view(asked["view"])

    assert asked["trigger_id"] == "1.2.x"
    assert json.loads(asked["view"]["private_metadata"]) == {
        "channel": "C1",
        "scope": "T1",
        "thread": "7.1",
        "message": "8.1",
        "at": 5.5,
    }


@pytest.mark.parametrize(
    ("error", "family"),
    [
        ("channel_not_found", DestinationGone),
        ("not_in_channel", DestinationGone),
        ("is_archived", DestinationGone),
        ("invalid_auth", AuthenticationRefused),
        ("token_revoked", AuthenticationRefused),
        ("account_inactive", AuthenticationRefused),
        ("missing_scope", AuthenticationRefused),
        ("thread_not_found", ThreadGone),
        ("message_not_found", MessageGone),
        ("cant_update_message", TooOld),
        ("edit_window_closed", TooOld),
        ("invalid_blocks", FormattingRefused),
        ("msg_too_long", Refused),
        ("no_text", Refused),
        ("internal_error", OutcomeUnknown),
        ("fatal_error", OutcomeUnknown),
        ("service_unavailable", NetworkDown),
        ("ratelimited", RateLimited),
        ("a_word_of_next_year", Refused),
    ],
)
def test_each_word_of_slacks_says_what_to_do(error: str, family: type):
    assert type(refusals.refusal("chat.postMessage", 200, error)) is family


def test_an_edit_that_is_too_long_becomes_a_new_message():
    assert type(refusals.refusal("chat.update", 200, "msg_too_long")) is TooOld


def test_a_scope_that_is_lacking_elsewhere_stops_that_call_alone():
    error = refusals.refusal("files.info", 200, "missing_scope", needed="files:read")

    assert type(error) is Refused
    assert "files:read" in str(error)


@pytest.mark.parametrize(
    ("header", "seconds"), [("7", 7.0), ("", 1.0), ("soon", 1.0), ("-5", 1.0), ("1e9", 86_400.0)]
)
def test_a_flood_is_waited_for_as_long_as_is_sensible(header: str, seconds: float):
    error = refusals.refusal("chat.update", 429, "", retry_after=header)

    assert isinstance(error, RateLimited)
    assert (error.retry_after, error.scope) == (seconds, "method")


@pytest.mark.parametrize(
    ("status", "family"),
    [(200, OutcomeUnknown), (500, OutcomeUnknown), (502, OutcomeUnknown), (503, NetworkDown)],
)
def test_an_answer_that_is_not_slacks(status: int, family: type):
    assert type(refusals.refusal("chat.postMessage", status, "")) is family


BOT, APP, SIGNING = "xoxb-1-2-abc", "xapp-1-A1-1-abc", "0a" * 16
GOOD = f"{BOT} {APP}"


@pytest.mark.parametrize(
    ("secret", "options", "says"),
    [
        ("", {}, "The bot token is missing"),
        (APP, {}, "The bot token is missing"),
        ("xoxb-your-token", {}, "placeholder"),
        ("xoxp-1-2-3", {}, "a user's token"),
        ("123456:AAAA", {}, "does not look like one"),
        (BOT, {}, "no way to tell us anything"),
        (f"{BOT} xapp-x", {}, "connections:write"),
        (f"{GOOD} hello", {}, "holds something that is neither"),
        (f"{GOOD} {APP}", {}, "or one of them twice"),
        (GOOD, {"events": "http"}, "needs the signing secret"),
        (f"{BOT} {SIGNING}", {"events": "socket"}, "needs the app-level token"),
        (GOOD, {"events": "pigeon"}, "socket or http"),
        (GOOD, {"connections": "11"}, "from 1 to 10"),
        (GOOD, {"api_base_url": "slack.com"}, "api_base_url"),
        (GOOD, {"proxy": "socks5://h:1"}, "proxy must begin with"),
        (GOOD, {"answer_seconds": "0"}, "answer_seconds"),
        (GOOD, {"channel_replies": "yes"}, "channel_replies"),
        (GOOD, {"colour": "red"}, "no option 'colour'"),
    ],
)
def test_a_setting_that_is_wrong_says_what_to_do(secret: str, options: dict, says: str):
    (problem,) = platform.problems(AccountConfig(slug="main", secret=secret, options=options))

    assert says in problem
    assert not any(word in problem for word in secret.split())


@pytest.mark.parametrize(
    ("secret", "events"),
    [
        (GOOD, "socket"),
        (f"{APP} {BOT}", "socket"),
        (f"{SIGNING} {BOT}", "http"),
        (f"{BOT}\n{SIGNING}\n", "http"),
        (f"{BOT} {SIGNING} {APP}", "socket"),
    ],
)
def test_tokens_are_told_apart_in_any_order(secret: str, events: str):
    config = AccountConfig(slug="main", secret=secret, options={})
    options = conf.read(config)

    assert platform.problems(config) == []
    assert (options.bot_token, options.events) == (BOT, events)
    assert options.app_token == (APP if APP in secret else "")
    assert options.signing_secret == (SIGNING if SIGNING in secret else "")


@pytest.mark.parametrize("text", ["U012AB3CD", "W0123"])
def test_an_id_of_a_person(text: str):
    assert platform.problem_with_user_id(text) == ""


@pytest.mark.parametrize("text", ["@ada", "ada", "C012AB3CD", "12345", "u012ab3cd"])
def test_no_id_of_a_person(text: str):
    assert "Copy member ID" in platform.problem_with_user_id(text)


@pytest.mark.parametrize(
    ("url", "may"),
    [
        ("https://files.slack.com/files-pri/x", True),
        ("http://files.slack.com/x", False),
        ("https://slack.com.evil.example/x", False),
        ("https://evilslack.com/x", False),
        ("http://127.0.0.1:8081/files/F1", True),
        ("http://127.0.0.1:9/files/F1", False),
    ],
)
def test_the_token_goes_to_slacks_hosts_alone(url: str, may: bool):
    assert files.is_file_host(url, "http://127.0.0.1:8081/api/") is may


@pytest.mark.proves("P1")
def test_the_page_names_errors_in_the_words_they_are_told_in():
    page = (Path(__file__).parents[3] / "docs" / "platforms" / "slack.md").read_text()
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", page.split("## Common errors")[1], re.MULTILINE)
    named = [row for row in rows if row not in {"it says", "---"} and "nothing at all" not in row]
    told = " ".join(
        " ".join(text.split())
        for module in (conf, refusals, files)
        for text in vars(module).values()
        if isinstance(text, str)
    )

    for row in named:
        beginning = re.split(r"…|\(", row)[0].strip()
        assert beginning in told, row
    assert len(named) == 8

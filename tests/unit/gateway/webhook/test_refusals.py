"""What a receiver's answer means, and what staff may set for a receiver."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delivery import errors
from gateway.platforms.webhook import conf
from gateway.platforms.webhook.refusals import LONGEST_WAIT, USUAL_WAIT, error_for, retry_after
from gateway.ports import AccountConfig

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (100, errors.OutcomeUnknown),
        (301, errors.Refused),
        (302, errors.Refused),
        (400, errors.Refused),
        (401, errors.AuthenticationRefused),
        (403, errors.AuthenticationRefused),
        (404, errors.Refused),
        (408, errors.NetworkDown),
        (410, errors.DestinationGone),
        (413, errors.Refused),
        (425, errors.NetworkDown),
        (429, errors.RateLimited),
        (500, errors.OutcomeUnknown),
        (502, errors.OutcomeUnknown),
        (503, errors.RateLimited),
        (504, errors.OutcomeUnknown),
        (599, errors.OutcomeUnknown),
    ],
)
def test_each_status_has_its_meaning(status, kind):
    error = error_for(status, {}, NOW)

    assert type(error) is kind
    assert error.code == str(status)
    assert str(status) in error.detail


@given(st.integers(200, 299))
def test_any_2xx_is_success(status):
    assert error_for(status, {}, NOW) is None


@given(st.integers(100, 999), st.text())
def test_any_answer_has_a_meaning(status, wait):
    error = error_for(status, {"retry-after": wait}, NOW)

    assert (error is None) == (200 <= status < 300)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        ("999999", LONGEST_WAIT),
        ("", USUAL_WAIT),
        ("soon", USUAL_WAIT),
        ("-5", USUAL_WAIT),
        ("Sun, 01 Mar 2026 12:02:00 GMT", 120),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
        ("Mon, 01 Mar 2027 11:00:00 GMT", LONGEST_WAIT),
    ],
)
def test_how_long_a_receiver_asks_to_wait(value, seconds):
    assert retry_after(value, NOW) == seconds


def problems(secret: str = SECRET, *, private: bool = False, **options: str) -> list[str]:
    config = AccountConfig(slug="out", secret=secret, options=options)
    return conf.problems(config, is_private_fine=private)


def test_a_receiver_needs_an_address_and_a_secret():
    assert problems(url="https://example.org/in") == []
    assert len(problems("")) == 2


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/in",
        "https://127.0.0.1/in",
        "https://localhost/in",
        "https://[::1]/in",
        "https://0x7f000001/in",
        "https://me:secret@example.org/in",
        "ftp://example.org/in",
        "nonsense",
    ],
)
def test_an_address_that_is_not_certainly_public_is_refused(url):
    (problem,) = problems(url=url)

    assert problem.startswith("url: ")


@pytest.mark.parametrize("url", ["http://127.0.0.1:9000/in", "http://localhost/in"])
def test_a_private_address_is_fine_where_the_operator_says_so(url):
    assert problems(url=url, private=True) == []


@pytest.mark.parametrize("secret", ["whsec_", "whsec_tiny", "plain text", f"{SECRET} nonsense!"])
def test_a_secret_that_signs_nothing_is_refused_and_not_quoted(secret):
    (problem,) = problems(secret, url="https://example.org/in")

    assert secret == "whsec_" or secret not in problem


def test_a_secret_may_replace_another():
    assert problems(f"{SECRET} {SECRET}", url="https://example.org/in") == []


def test_an_option_that_nobody_knows_is_refused():
    (problem,) = problems(url="https://example.org/in", uri="x")

    assert "'uri'" in problem

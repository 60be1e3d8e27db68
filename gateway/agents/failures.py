"""What went wrong with a model, in the words of an event: for the person and for staff."""

from dataclasses import replace

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelServerError,
    ModelUnavailableError,
    OutputTokenLimitExceeded,
    UnexpectedModelBehavior,
    UsageLimitExceeded,
)

from clarify.redaction import HIDDEN, redact
from gateway.agents.events import Failed
from gateway.messages import clean
from gateway.states import FailureKind

_LONGEST_DETAIL = 600  # characters; enough for a provider's reason, short enough for a log line


class ModelMisconfigured(Exception):
    """The model cannot even be called: its name, its extra package or its key is not right."""


def explain(error: BaseException, *, api_key: str = "") -> Failed:
    """The event that tells of `error`.

    Args:
        error: What ended the run.
        api_key: The credential in use; it is struck out wherever it turns up.
    """
    return replace(_verdict(error), detail=_safe(f"{type(error).__name__}: {error}", api_key))


def is_transient(error: BaseException) -> bool:
    """Whether the very same model call may work a little later."""
    return _verdict(error).retryable


def is_worth_a_fallback(error: BaseException) -> bool:
    """Whether another model may do what this one could not."""
    return is_transient(error) or isinstance(error, ModelNotFoundError | ModelQuotaExceededError)


def timed_out(seconds: float) -> Failed:
    """The event for a run that took longer than it may."""
    return Failed(
        kind=FailureKind.LIMIT,
        message=f"This was stopped: one answer may take {_spoken(seconds)} at most.",
        detail=f"time limit of {seconds:g} s",
    )


def _spoken(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:g} seconds"
    return f"{seconds / 60:g} minutes"


def _verdict(error: BaseException) -> Failed:
    if isinstance(error, ModelAPIError):
        return _model_verdict(error)
    if isinstance(error, ModelMisconfigured):
        return _refused(str(error))
    for kind, verdict in _VERDICTS:
        if isinstance(error, kind):
            return verdict
    return Failed(kind=FailureKind.INTERNAL, message="Something went wrong inside the agent.")


def _model_verdict(error: ModelAPIError) -> Failed:
    status = error.status_code if isinstance(error, ModelHTTPError) else 0
    if isinstance(error, ModelQuotaExceededError) or status == 402:
        return _refused("The account at the model's provider has no credit left.")
    if isinstance(error, ModelRateLimitError) or status == 429:
        return Failed(
            kind=FailureKind.RATE_LIMITED,
            message="The model is getting too many requests right now. Please try again shortly.",
            retryable=True,
            retry_after=error.retry_after,
        )
    if _is_in_trouble(error, status):
        return Failed(
            kind=FailureKind.MODEL_UNREACHABLE,
            message="The model cannot be reached right now. Please try again shortly.",
            retryable=True,
            retry_after=error.retry_after,
        )
    return _rejection(error, status)


def _is_in_trouble(error: ModelAPIError, status: int) -> bool:
    troubles = (ModelConnectionError, ModelUnavailableError, ModelServerError)
    # Without a status the answer was cut off, or was an error inside an open stream.
    return isinstance(error, troubles) or status >= 500 or status in {0, 408, 409}


def _rejection(error: ModelAPIError, status: int) -> Failed:
    if isinstance(error, ModelContextWindowExceededError):
        return _limit("The conversation is too long for the model. /new starts a fresh one.")
    if isinstance(error, ModelAuthenticationError) or status in {401, 403}:
        return _refused("The model's provider refused our credentials; staff need to look at it.")
    if isinstance(error, ModelNotFoundError) or status == 404:
        return _refused(f"The provider knows no model called {error.model_name}.")
    return _refused("The model's provider did not accept the request.")


def _refused(message: str) -> Failed:
    return Failed(kind=FailureKind.MODEL_REFUSED, message=message)


def _limit(message: str) -> Failed:
    return Failed(kind=FailureKind.LIMIT, message=message)


def _safe(detail: str, api_key: str) -> str:
    text = " ".join(clean(detail).split())
    if api_key:
        text = text.replace(api_key, HIDDEN)
    return redact(text)[:_LONGEST_DETAIL]


_VERDICTS: tuple[tuple[type[Exception], Failed], ...] = (
    (ContentFilterError, _refused("The model's provider filtered this answer out.")),
    (OutputTokenLimitExceeded, _limit("The answer became longer than the model may write.")),
    (
        UsageLimitExceeded,
        _limit("The agent needed too many steps for one answer and was stopped."),
    ),
    (
        UnexpectedModelBehavior,  # the root of the first two: it comes last
        Failed(
            kind=FailureKind.INTERNAL,
            message="The model gave no usable answer. Asking again may help.",
        ),
    ),
)

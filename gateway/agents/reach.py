"""Whether the configured model's server answers, asked without running a model."""

import httpx2

from gateway.agents.models import DEMO
from gateway.agents.requests import ModelConfig

PUBLIC = "https://api.openai.com/v1"
PATIENCE_SECONDS = 8.0


def problem(config: ModelConfig) -> str:
    """What stands between us and the model, in one sentence that says what to do.

    Returns:
        An empty text when nothing does, as far as can be told without running it.
    """
    if config.name == DEMO or ":" in config.name:
        return ""
    base = (config.base_url or PUBLIC).rstrip("/")
    headers = {"Authorization": f"Bearer {config.api_key}"} if config.api_key else {}
    try:
        answer = httpx2.get(f"{base}/models", headers=headers, timeout=PATIENCE_SECONDS)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        return f"{base} cannot be reached ({type(error).__name__}). Check OPENAI_BASE_URL."
    if answer.status_code in {401, 403}:
        return f"{base} refuses the key. Check OPENAI_API_KEY."
    if answer.status_code >= 500:
        return f"{base} is in trouble itself (HTTP {answer.status_code}). Try again later."
    return _unknown_model(config.name, base, answer)


def _unknown_model(name: str, base: str, answer: httpx2.Response) -> str:
    """Whether the server lists its models, and not this one; a server need not list any."""
    try:
        listed = [model["id"] for model in answer.json()["data"]]
    except (ValueError, KeyError, TypeError):
        return ""
    if not listed or name in listed:
        return ""
    some = ", ".join(map(str, listed[:5]))
    return f"{base} has no model {name!r}. Set HERMES_MODEL to one of: {some}."

"""The agent's model as the settings name it."""

from typing import Any

from gateway.agents.requests import ModelConfig
from gateway.conf import gateway_settings


def model_config() -> ModelConfig:
    """Where the models are; what the settings leave out has the defaults of `ModelConfig`."""
    named: dict[str, Any] = dict(gateway_settings().model)
    return ModelConfig(**named)

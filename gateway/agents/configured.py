"""The agent's model and tools as the settings name them."""

from pathlib import Path
from typing import Any

from gateway.agents.requests import ModelConfig
from gateway.agents.shell import shell_tool
from gateway.agents.tools import ToolRegistry, standard_tools
from gateway.conf import gateway_settings


def model_config() -> ModelConfig:
    """Where the models are; what the settings leave out has the defaults of `ModelConfig`."""
    named: dict[str, Any] = dict(gateway_settings().model)
    return ModelConfig(**named)


def installed_tools() -> ToolRegistry:
    """The standard tools, and those that are switched on."""
    tools = standard_tools()
    settings = gateway_settings()
    if settings.shell_tool:
        tools.add(shell_tool(Path(settings.workspaces)))
    return tools

"""Trying an account's credential for real, once, outside the gateway process."""

import asyncio

from delivery.errors import TransportError
from gateway import platforms
from gateway.errors import NotPossible
from gateway.ports import AccountConfig, Adapter, BotIdentity

PATIENCE = 30.0  # seconds for connecting, asking who we are, and disconnecting


def connect_once(config: AccountConfig, platform: str) -> BotIdentity:
    """Who the account is on its platform.

    Args:
        config: The account's credential and settings.
        platform: The platform's kind.

    Raises:
        NotPossible: The platform refused, or could not be reached; the message says which.
        UnknownPlatform: It is not installed.
    """
    adapter = platforms.get(platform).build_adapter(config)
    try:
        return asyncio.run(_connect(adapter))
    except TimeoutError as error:
        message = f"{config.slug}: {platform} did not answer within {PATIENCE:.0f} s. {NETWORK}"
        raise NotPossible(message) from error
    except TransportError as error:
        message = f"{config.slug}: {type(error).__name__}: {error.detail or error}"
        raise NotPossible(message) from error


NETWORK = "Check the network, the proxy, and the address of the platform's API."


async def _connect(adapter: Adapter) -> BotIdentity:
    try:
        async with asyncio.timeout(PATIENCE):
            return await adapter.connect()
    finally:
        await adapter.disconnect()

"""A chat lives on under another id: what was asked for there, and what may be sent there."""

from gateway.schedules import background, jobs, targets


def move_chat(account: str, old_chat_id: str, new_chat_id: str) -> None:
    """Let jobs, tasks and permitted targets of a chat follow it, in the caller's transaction."""
    jobs.move_chat(account, old_chat_id, new_chat_id)
    background.move_chat(account, old_chat_id, new_chat_id)
    targets.move_chat(account, old_chat_id, new_chat_id)

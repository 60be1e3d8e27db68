"""How the gateway behaves in a chat: only writer of chats' settings and homes.

What adds up how is `rules`.
"""

from datetime import datetime

from delivery.addresses import Address
from gateway import rules, statements
from gateway.messages import Source
from gateway.models import Account, ChatPolicy, Conversation, HomeChannel
from gateway.rules import Rules

HOME_OPTION = "home_channel"  # of an account, where nobody has said /sethome


def rules_for(source: Source) -> Rules:
    """What holds where `source` speaks."""
    return _rules(source.account, source.chat_id, source.thread_id, source.parent_chat_id)


def rules_of(conversation: Conversation) -> Rules:
    """What holds in a conversation."""
    return _rules(
        conversation.account,
        conversation.chat_id,
        conversation.thread_id,
        conversation.parent_chat_id,
    )


def _rules(account: str, chat_id: str, thread_id: str, parent_chat_id: str) -> Rules:
    known = {
        (policy.account, policy.chat_id, policy.thread_id): policy
        for policy in statements.chat_policies(account=account)
    }
    places = [
        (account, chat_id, thread_id),
        (account, chat_id, ""),
        (account, parent_chat_id, ""),
        (account, "", ""),
        ("", "", ""),
    ]
    found = (known[place] for place in dict.fromkeys(places) if place in known)
    return rules.together(policy.rules for policy in found)


def store(policy: ChatPolicy) -> None:
    """Store what is set for a place; it holds from the next message on."""
    policy.save()


def remove(policy: ChatPolicy) -> None:
    """Let what is set for a place be inherited again."""
    policy.delete()


def said_by(policy: ChatPolicy) -> dict[str, str]:
    """What a policy says, for the audit log."""
    said = vars(policy.rules).items()
    return {name: str(value)[:200] for name, value in said if value not in (None, "")}


def home_of(account: str) -> Address | None:
    """Where an account's unasked-for messages go; None if nobody has said."""
    home = HomeChannel.objects.filter(account=account).first()
    if home is not None:
        return Address.from_dict(home.address)
    row = Account.objects.filter(slug=account).first()
    chat_id = str(row.options.get(HOME_OPTION, "")).strip() if row else ""
    if row is None or not chat_id:
        return None
    known = Conversation.objects.filter(account=account, chat_id=chat_id, thread_id="").first()
    if known is not None:
        return known.address
    return Address(platform=row.platform, account=account, chat_id=chat_id)


def make_home(address: Address, *, by: str, now: datetime) -> None:
    """Let unasked-for messages of the account go to `address` from now on."""
    HomeChannel.objects.update_or_create(
        account=address.account,
        defaults={"address": address.as_dict(), "set_by": by[:255], "set_at": now},
    )


def move_chat(account: str, old_chat_id: str, new_chat_id: str) -> None:
    """What is set for a chat holds under its new id, unless something is set for that already."""
    for policy in ChatPolicy.objects.filter(account=account, chat_id=old_chat_id):
        taken = ChatPolicy.objects.filter(
            account=account, chat_id=new_chat_id, thread_id=policy.thread_id
        )
        if not taken.exists():
            ChatPolicy.objects.filter(pk=policy.pk).update(chat_id=new_chat_id)
    for home in HomeChannel.objects.filter(account=account):
        if home.address.get("chat_id") == old_chat_id:
            moved = home.address | {"chat_id": new_chat_id}
            HomeChannel.objects.filter(pk=home.pk).update(address=moved)

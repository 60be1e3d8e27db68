"""The configuration out of the database, and back into it by the verbs of staff ([I3])."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from delivery.addresses import Address
from gateway import accounts, audit, chats, staff, vault
from gateway.configuration import document, sealing
from gateway.configuration.document import SHAPES, Change, Document, Item
from gateway.configuration.sealing import Seal
from gateway.errors import BadSecret, GatewayError, NotPossible
from gateway.models import Account, AllowEntry, ChatPolicy, HomeChannel

Apply = Callable[[Change, str, datetime], None]


# --- out ------------------------------------------------------------------------------------------


def export(*, seal: Seal | None = None) -> Document:
    """What staff set up here; what the environment keeps is not part of it.

    Args:
        seal: Seals the credentials; without one they are left out.

    Raises:
        BadSecret: A credential is wanted and cannot be read.
    """
    lists = _lists(with_secrets=seal is not None)
    for item in lists["accounts"]:
        if seal is not None:
            item["secret"] = seal.close(item["secret"])
    return document.compose(lists, seal=seal.facts if seal else None)


def _lists(*, with_secrets: bool) -> dict[str, list[Item]]:
    mine = Account.objects.filter(from_environment=False).exclude(slug=accounts.CONSOLE)
    return {
        "accounts": [_account(row, with_secrets=with_secrets) for row in mine.order_by("slug")],
        "allowlist": [
            _fields("allowlist", row)
            for row in AllowEntry.objects.filter(from_environment=False).order_by("pk")
        ],
        "chats": [_fields("chats", row) for row in ChatPolicy.objects.order_by("pk")],
        "homes": [_fields("homes", row) for row in HomeChannel.objects.order_by("account")],
    }


def _account(row: Account, *, with_secrets: bool) -> Item:
    masked = accounts.shown(row.options)
    item: Item = {
        "name": row.slug,
        "platform": row.platform,
        "enabled": row.is_enabled,
        "options": dict(masked),
    }
    if with_secrets:
        hidden = {name: value for name, value in row.options.items() if value != masked[name]}
        item["secret"] = _bundle(vault.unlock(row.secret), hidden)
    return item


def _bundle(secret: str, hidden: Mapping[str, str]) -> str:
    """A credential, with the options that nobody may read either."""
    if not secret and not hidden:
        return ""
    return json.dumps({"secret": secret, "options": dict(sorted(hidden.items()))})


def _fields(place: str, row: Any) -> Item:
    return {name: getattr(row, name) for names in SHAPES[place] for name in names}


# --- in -------------------------------------------------------------------------------------------


def opened(wanted: Document, passphrase: str) -> Document:
    """`wanted` with its credentials in clear; without them if there is no passphrase.

    Raises:
        NotPossible: The passphrase does not open them.
    """
    facts = wanted.get("seal")
    items = [dict(item) for item in wanted.get("accounts", [])]
    seal = sealing.of_file(facts, passphrase) if facts and passphrase else None
    for item in items:
        sealed = item.pop("secret", "")
        if seal is not None:
            item["secret"] = seal.open(sealed)
    return {**wanted, "accounts": items}


def plan(wanted: Document) -> list[Change]:
    """What importing `wanted`, opened, would do; nothing is changed."""
    with_secrets = any("secret" in item for item in wanted.get("accounts", []))
    try:
        lists = _lists(with_secrets=with_secrets)
    except BadSecret:  # then whatever the file has is another one
        lists = _lists(with_secrets=False)
    return list(document.differences(document.compose(lists, seal=None), wanted))


def carry_out(changes: list[Change], *, actor: str, now: datetime) -> list[str]:
    """Do what `plan` said, each thing by itself, with its row in the audit log.

    Returns:
        What could not be done, and why, in one sentence each; the rest is done all the same.
    """
    refused = []
    for change in changes:
        try:
            with transaction.atomic():
                _APPLY[change.place](change, actor, now)
        except (GatewayError, ValidationError) as error:
            words = " ".join(error.messages) if isinstance(error, ValidationError) else str(error)
            refused.append(f"{change.name}: {words}")
    return refused


def _apply_account(change: Change, actor: str, now: datetime) -> None:
    item = change.item
    known = Account.objects.filter(slug=item["name"]).first()
    bundle = json.loads(item.get("secret") or "{}")
    kept = known.options if known else {}
    options = dict(item.get("options", accounts.shown(kept))) | bundle.get("options", {})
    if known is None and not bundle:
        options = {name: value for name, value in options.items() if document.MASK not in value}
    facts = staff.AccountFacts(
        slug=item["name"],
        platform=item.get("platform", known.platform if known else ""),
        secret=bundle.get("secret", ""),
        options=options,
    )
    if known is None or change.fields.keys() & {"platform", "options", "secret"}:
        known = _saved(facts, is_new=known is None, actor=actor, now=now)
    wanted = item.get("enabled", known.is_enabled)
    if wanted != known.is_enabled:
        switch = staff.enable_account if wanted else staff.disable_account
        switch(known, actor=actor, now=now)


def _saved(facts: staff.AccountFacts, *, is_new: bool, actor: str, now: datetime) -> Account:
    try:
        return staff.save_account(facts, actor=actor, now=now)
    except NotPossible as error:
        if not is_new or facts.secret:
            raise
        enter = f"Enter its credential: manage.py account add {facts.slug} {facts.platform}"
        message = f"{error} {enter}; then import again."
        raise NotPossible(message) from error


def _apply_allowed(change: Change, actor: str, now: datetime) -> None:
    keys, rest = SHAPES["allowlist"]
    place = {name: change.item.get(name) or "" for name in keys}
    entry = AllowEntry.objects.filter(**place).first() or AllowEntry(**place)
    for name in rest:
        if name in change.item:
            setattr(entry, name, change.item[name])
    staff.allow(entry, actor=actor, now=now)


def _apply_chat(change: Change, actor: str, now: datetime) -> None:
    keys, rest = SHAPES["chats"]
    place = {name: change.item.get(name) or "" for name in keys}
    policy = ChatPolicy.objects.filter(**place).first() or ChatPolicy(**place)
    for name in rest:
        if name in change.item:
            setattr(policy, name, change.item[name])
    policy.full_clean()
    staff.set_chat(policy, actor=actor, now=now)


def _apply_home(change: Change, actor: str, now: datetime) -> None:
    account = change.item["account"]
    try:
        address = Address.from_dict(change.item.get("address", {}))
    except TypeError as error:
        message = "its address does not name a platform, an account and a chat."
        raise NotPossible(message) from error
    chats.make_home(replace(address, account=account), by=actor, now=now)
    audit.note("home.set", actor=actor, subject=f"account:{account}", now=now, chat=address.chat_id)


_APPLY: Mapping[str, Apply] = {
    "accounts": _apply_account,
    "allowlist": _apply_allowed,
    "chats": _apply_chat,
    "homes": _apply_home,
}

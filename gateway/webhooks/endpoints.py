"""Endpoints, as staff make and change them: only writer of their table.

A secret is made or entered once, kept encrypted, and never shown again: each verb that makes one
returns it in clear for the one time. Each verb writes its row in the audit log.
"""

import secrets as chance
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.urls import reverse

from delivery.addresses import Address
from gateway import audit, chats, vault
from gateway.errors import NotPossible
from gateway.models import Account, Conversation
from gateway.platforms import webhook
from gateway.platforms.webhook import schemes, signing, templates
from gateway.platforms.webhook.schemes import Kind
from gateway.webhooks.models import Endpoint, Goal

GRACE = timedelta(hours=24)  # for which the former secret counts beside a new one
NOTED_EVERY = timedelta(seconds=5)  # a refusal is written down no more often: anybody can send
CHAT_TYPE = "webhook"


@dataclass(frozen=True)
class Stored:
    """An endpoint as it is now, and its secret if there is a new one.

    Attributes:
        endpoint: The endpoint.
        secret: In clear, to be shown once; empty where none was made.
    """

    endpoint: Endpoint
    secret: str = ""


def url_of(endpoint: Endpoint) -> str:
    """Where its sender posts to."""
    return f"{settings.BASE_URL.rstrip('/')}{reverse('webhook', args=[endpoint.name])}"


def named(name: str) -> Endpoint:
    """The endpoint of that name.

    Raises:
        NotPossible: There is none.
    """
    endpoint = Endpoint.objects.filter(name=name).first()
    if endpoint is None:
        known = ", ".join(Endpoint.objects.values_list("name", flat=True)) or "none yet"
        message = f"There is no endpoint {name!r}. There are: {known}."
        raise NotPossible(message)
    return endpoint


def check(endpoint: Endpoint) -> dict[str, str]:
    """What is wrong with an endpoint's settings: a sentence for each field that is wrong."""
    wrong: dict[str, str] = {}
    problem = templates.problem_with(endpoint.template)
    if problem:
        wrong["template"] = problem
    if endpoint.kind is Kind.HMAC and not endpoint.signature_header.strip():
        wrong["signature_header"] = "Name the header in which the sender puts the signature."
    if endpoint.needs_id and endpoint.kind in {Kind.HMAC, Kind.BEARER} and not endpoint.id_from:
        wrong["id_from"] = "Say where the id stands, or do not demand one."
    return wrong | _problem_with_goal(endpoint)


def create(endpoint: Endpoint, *, secret: str = "", actor: str, now: datetime) -> Stored:
    """Store a new endpoint.

    Args:
        endpoint: Its settings; not stored yet.
        secret: One that the sender has already; empty to make one.
        actor: Who does it.
        now: The present.

    Raises:
        NotPossible: A setting is wrong, or the sender's own secret is missing.
    """
    if endpoint.kind is Kind.SLACK and not secret:
        message = (
            "Slack gives each app a signing secret of its own: copy it from the app's page, Basic"
            " Information, and enter it here."
        )
        raise NotPossible(message)
    made = secret or _new_secret(endpoint.kind)
    _refuse_secret(endpoint.kind, made)
    endpoint.secret, endpoint.created_at = vault.lock(made), now
    with transaction.atomic():
        _store(endpoint)
        _note("added", endpoint, actor, now, scheme=endpoint.scheme)
    return Stored(endpoint, made)


def change(endpoint: Endpoint, *, actor: str, now: datetime) -> Stored:
    """Store what was changed in an endpoint; its secrets stay.

    Raises:
        NotPossible: A setting is wrong.
    """
    with transaction.atomic():
        _store(endpoint)
        _note("changed", endpoint, actor, now)
    return Stored(endpoint)


def rotate(
    endpoint: Endpoint, *, secret: str = "", grace: timedelta = GRACE, actor: str, now: datetime
) -> Stored:
    """Give an endpoint another secret; the present one counts for a while longer.

    Args:
        endpoint: Which.
        secret: One that the sender has already; empty to make one.
        grace: How long the present secret still counts; nothing ends it at once.
        actor: Who does it.
        now: The present.

    Raises:
        NotPossible: The secret cannot be used.
    """
    if endpoint.kind is Kind.SLACK and not secret:
        raise NotPossible("Make Slack regenerate its signing secret, and enter that.")
    made = secret or _new_secret(endpoint.kind)
    _refuse_secret(endpoint.kind, made)
    endpoint.former_secret = endpoint.secret if grace else ""
    endpoint.former_until = now + grace if grace else None
    endpoint.secret = vault.lock(made)
    fields = ["secret", "former_secret", "former_until"]
    with transaction.atomic():
        endpoint.save(update_fields=fields)
        _note("rotated", endpoint, actor, now, grace_hours=grace.total_seconds() / 3600)
    return Stored(endpoint, made)


def switch(endpoint: Endpoint, *, is_enabled: bool, actor: str, now: datetime) -> None:
    """Let an endpoint take events, or none.

    Raises:
        NotPossible: It is so already.
    """
    word = "enabled" if is_enabled else "disabled"
    with transaction.atomic():
        rows = Endpoint.objects.filter(pk=endpoint.pk, is_enabled=not is_enabled)
        if not rows.update(is_enabled=is_enabled):
            message = f"{endpoint.name} is {word} already."
            raise NotPossible(message)
        _note(word, endpoint, actor, now)
    endpoint.is_enabled = is_enabled


def note_refusal(endpoint: Endpoint, why: str, *, now: datetime) -> None:
    """Write down for staff why a request was refused, now and then."""
    is_due = Q(last_refused_at=None) | Q(last_refused_at__lt=now - NOTED_EVERY)
    Endpoint.objects.filter(is_due, pk=endpoint.pk).update(
        last_refused_at=now, last_refusal=why[:500]
    )


def secrets_of(endpoint: Endpoint, now: datetime) -> list[str]:
    """The secrets in use, in clear, the newest first.

    Raises:
        BadSecret: They were stored with another key of this installation.
    """
    found = [vault.unlock(endpoint.secret)]
    if endpoint.former_secret and endpoint.former_until and endpoint.former_until > now:
        found.append(vault.unlock(endpoint.former_secret))
    return found


def destination(endpoint: Endpoint, event_id: str) -> Address | None:
    """Where the answer to an event goes; None for nowhere, or where its home is not known."""
    if endpoint.goal == Goal.NONE:
        return None
    if endpoint.goal == Goal.HOME:
        return chats.home_of(endpoint.account)
    account = Account.objects.filter(slug=endpoint.account).first()
    if account is None:
        return None
    if endpoint.goal == Goal.WEBHOOK:  # each event has a lane, so that none waits for another
        return Address(
            platform=account.platform,
            account=account.slug,
            chat_type=CHAT_TYPE,
            chat_id=endpoint.name,
            thread_id=event_id,
        )
    return _chat(endpoint, account)


def _chat(endpoint: Endpoint, account: Account) -> Address:
    there = Conversation.objects.filter(
        account=account.slug, chat_id=endpoint.chat_id, commission=None
    )
    known = there.order_by("-active_at").first()
    facts: Mapping[str, str] = known.place.as_dict() if known else {}
    return Address.from_dict(
        {
            **facts,
            "platform": account.platform,
            "account": account.slug,
            "chat_id": endpoint.chat_id,
            "thread_id": endpoint.thread_id,
        }
    )


def _problem_with_goal(endpoint: Endpoint) -> dict[str, str]:
    goal = endpoint.goal
    if goal == Goal.NONE:
        return {}
    account = Account.objects.filter(slug=endpoint.account).first()
    if account is None:
        known = ", ".join(Account.objects.values_list("slug", flat=True))
        return {"account": f"Name the account; there are: {known}."}
    is_receiver = account.platform == webhook.KIND
    if (goal == Goal.WEBHOOK) != is_receiver:
        what = "is" if is_receiver else "is not"
        return {"account": f"{account.slug} {what} a receiver of webhooks."}
    if goal == Goal.HOME and chats.home_of(account.slug) is None:
        words = "has no home channel: write /sethome in a chat there, or name the chat here."
        return {"account": f"{account.slug} {words}"}
    if goal == Goal.CHAT and not endpoint.chat_id:
        return {"chat_id": "Name the chat: /whoami, written in it, says its id."}
    return {}


def _store(endpoint: Endpoint) -> None:
    wrong: dict[str, Any] = dict(check(endpoint))
    if wrong:
        raise NotPossible(" ".join(wrong.values()))
    try:
        endpoint.full_clean()
    except ValidationError as error:
        raise NotPossible(" ".join(error.messages)) from error
    endpoint.save()


def _refuse_secret(kind: Kind, secret: str) -> None:
    problem = schemes.problem_with_secret(kind, secret)
    if problem:
        raise NotPossible(problem)


def _new_secret(kind: Kind) -> str:
    key = chance.token_bytes(32)
    return signing.secret_of(key) if kind is Kind.STANDARD else chance.token_urlsafe(32)


def _note(verb: str, endpoint: Endpoint, actor: str, now: datetime, **detail: Any) -> None:
    audit.note(
        f"webhook.{verb}", actor=actor, subject=f"webhook:{endpoint.name}", now=now, **detail
    )

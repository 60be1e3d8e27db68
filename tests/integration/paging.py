"""Pages for staff in tests: where they are, and how a verb is chosen and confirmed."""

from django.urls import reverse


def page(model, name: str, *args) -> str:
    return reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_{name}", args=args)


def act(client, model, action: str, *rows, **given):
    """Choose an action for rows; with input, confirm it as well."""
    chosen = {"action": action, "_selected_action": [row.pk for row in rows], "index": "0"}
    return client.post(page(model, "changelist"), chosen | given, follow=True)


def confirm(client, model, action: str, *rows, **given):
    return act(client, model, action, *rows, confirmed="yes", **given)


def messages_of(response) -> str:
    return " ".join(str(message) for message in response.context["messages"])

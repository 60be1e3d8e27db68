"""The words of the Control UI that its scripts put on the page.

Their translations stand in `gateway/locale`, with those of the templates; `msgfmt` makes a `.mo` of
each `.po`. A test tells which one is missing.
"""

from django.utils.translation import gettext as _


def words() -> dict[str, str]:
    """Every word by its name, in the language of the request; `{}` stands for a value."""
    return {
        **_conversation_words(),
        **_question_words(),
        **_approval_words(),
        **_state_words(),
    }


def _conversation_words() -> dict[str, str]:
    return {
        "untitled": _("New chat"),
        "empty_title": _("What shall we do?"),
        "empty_text": _("Write below. The agent answers here, and asks you when it must."),
        "empty_help": _("What can you do?"),
        "no_conversations": _("Nothing found."),
        "earlier": _("Show earlier messages"),
        "latest": _("Jump to the latest"),
        "composer": _("Write a message"),
        "composer_answer": _("Or answer in your own words"),
        "read_only": _("This conversation lives on {}. You can answer its questions and stop it."),
        "copy": _("Copy"),
        "copied": _("Copied"),
        "code": _("code"),
        "session": _("A new session begins"),
        "stopped": _("Stopped"),
        "today": _("Today"),
        "yesterday": _("Yesterday"),
        "agent": _("Agent"),
        "files": _("Files: {}"),
        "too_long": _("This is too long: {} characters. The most is 1,000,000."),
        "failed": _("This could not be done: {}"),
        "needs_you": _("has a question"),
        "is_busy": _("is at work"),
        "place_dm": _("private chat"),
        "place_group": _("group"),
        "place_channel": _("channel"),
        "place_thread": _("thread"),
        "place_webhook": _("webhook"),
        "place_console": _("chat"),
    }


def _question_words() -> dict[str, str]:
    return {
        "question": _("The agent asks"),
        "question_to": _("The agent asks {}"),
        "step": _("Question {} of {}"),
        "set": _("{} of {}"),
        "any": _("Choose any that apply"),
        "other": _("Your own answer"),
        "other_hint": _("In your own words…"),
        "back": _("Back"),
        "next": _("Next"),
        "submit": _("Send answer"),
        "submit_all": _("Send answers"),
        "submitting": _("Sending…"),
        "skip": _("Skip"),
        "skip_title": _("Decline this; the agent goes on with its best judgement"),
        "collapse": _("Collapse"),
        "expand": _("Answer"),
        "open_one": _("1 question is unanswered"),
        "open_many": _("{} questions are unanswered"),
        "previous_prompt": _("Previous"),
        "next_prompt": _("Next"),
        "time_left": _("Time left"),
        "asked_below": _("Waiting for your answer"),
        "answered": _("Answered"),
        "skipped": _("Skipped"),
        "expired": _("Not answered in time"),
        "cancelled": _("Cancelled"),
        "undeliverable": _("Could not be delivered"),
        "by": _("by {}"),
        "on": _("on {}"),
        "not_connected": _(
            "Not connected. Your answer is kept and is sent when the connection is back."
        ),
        "too_late": _("Your answer came too late: this was closed before."),
        "keys": _("Enter goes on · Esc collapses"),
        "keys_choose": _("{}–{} choose"),
    }


def _approval_words() -> dict[str, str]:
    return {
        "approval": _("Approval needed"),
        "approval_name": _("Approval"),
        "level_low": _("Low risk"),
        "level_medium": _("Medium risk"),
        "level_high": _("High risk"),
        "level_critical": _("Critical risk"),
        "operation": _("Exactly what will run"),
        "asked_for": _("asked for {}"),
        "approve": _("Approve once"),
        "approve_longer": _("Approve for longer"),
        "reach_session": _("For this session ({})"),
        "reach_always": _("Always in this chat ({})"),
        "covers": _("A lasting approval covers:"),
        "deny": _("Deny"),
        "reason": _("Reason, if denied"),
        "confirm_high": _("This can do harm. Approve it?"),
        "confirm_critical": _("This can do great harm that nothing undoes. Approve it?"),
        "confirm_yes": _("Yes, approve"),
        "confirm_no": _("Go back"),
        "decide": _("Decide"),
        "waits_one": _("1 approval is waiting"),
        "waits_many": _("{} approvals are waiting"),
        "approved_once": _("Approved once"),
        "approved_session": _("Approved for this session"),
        "approved_always": _("Approved from now on"),
        "denied": _("Denied"),
        "undecided": _("Not decided in time"),
        "not_decided": _(
            "Not connected. If this is still open when the connection is back, decide again."
        ),
    }


def _state_words() -> dict[str, str]:
    return {
        "connecting": _("Connecting…"),
        "connected": _("Connected"),
        "reconnecting": _("Reconnecting…"),
        "offline": _("You are offline"),
        "sending": _("Sending"),
        "sent_in": _("Received"),
        "not_sent": _("Not sent"),
        "retry": _("Retry"),
        "discard": _("Discard"),
        "queued": _("Waiting for its turn"),
        "running": _("Working"),
        "ready": _("Going on"),
        "waiting": _("Waiting for you"),
        "waiting_other": _("Waiting for an answer"),
        "in_queue": _("{} more in the queue"),
        "stop": _("Stop"),
        "stopping": _("Stopping…"),
        "tick_recorded": _("Recorded"),
        "tick_sent": _("Sent"),
        "tick_retrying": _("Not accepted yet; it will be sent again"),
        "tick_delivered": _("Delivered"),
        "tick_recovered": _("Delivered after a recovery; it may have come twice"),
        "tick_abandoned": _("Given up"),
        "decision_answer": _("taken as an answer"),
        "decision_hint": _("not understood as an answer"),
        "decision_denied": _("not allowed"),
        "decision_ignored": _("not for the agent"),
        "decision_poison": _("could not be handled"),
        "decision_closed": _("the question was closed"),
    }

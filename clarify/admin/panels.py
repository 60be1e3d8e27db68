"""What the page of one question or approval shows of it."""

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString

from clarify import approvals, presenting, questions
from clarify.models import Prompt, Reply
from clarify.results import duration
from clarify.states import Effect, State
from clarify.wording import ENGLISH
from delivery import auditing
from delivery.models import Obligation
from delivery.pages import lines, link, moment, path_link, preformatted, snippet, table
from delivery.states import State as DeliveryState

OF_APPROVAL = ("summary", "risk", "detail", "offers", "deciders", "ruling", "permits")
ONCE_DECIDED = ("ruling", "permits")
OF_BOTH = (
    *("why", "turn", "place", "shown", "heard", "replies", "messages", "answered", "decided"),
    "how_long",
)


class Panels:
    """The parts of the page, as an admin's read-only fields."""

    @admin.display(description="turn")
    def turn(self, row: Prompt) -> str | SafeString:
        """The turn that waits for it."""
        return path_link(auditing.page_of(row.correlation), f"turn {row.correlation}")

    @admin.display(description="where")
    def place(self, row: Prompt) -> str:
        """The surface it is shown on."""
        address = row.destination
        thread = f", thread {address.thread_id}" if address.thread_id else ""
        buttons = "with buttons" if row.has_buttons else "as text"
        where = f"{address.platform} ({address.account}), {address.chat_type} {address.chat_id}"
        return f"{where}{thread}, {buttons}"

    @admin.display(description="what the person saw")
    def shown(self, row: Prompt) -> SafeString:
        """The text of its message; as it would be, while it has none."""
        if row.obligation is None:
            return preformatted(presenting.present(row.question_set, answered=row.given))
        return preformatted(_as_sent(row.obligation))

    @admin.display(description="said to it")
    def replies(self, row: Prompt) -> str | SafeString:
        """What was said to it, what became of that, and what the person was told."""
        return table(
            ("at", "by", "on", "said", "what became of it"),
            (
                (
                    moment(reply.at),
                    reply.by,
                    reply.surface,
                    snippet(reply.text, 300) or "(a button)",
                    _became(reply),
                )
                for reply in row.replies_in_order
            ),
        )

    @admin.display(description="time")
    def how_long(self, row: Prompt) -> str:
        """From when until when it can be answered."""
        closed = f"; closed at {moment(row.resolved_at)}" if row.resolved_at else ""
        return f"asked at {moment(row.created_at)}, open until {moment(row.expires_at)}{closed}"

    @admin.display(description="all of its messages")
    def messages(self, row: Prompt) -> str | SafeString:
        """Each message that showed, changed or closed it, and what became of it."""
        return table(
            ("owed at", "message", "delivery", "text"),
            (
                (
                    moment(owed.created_at),
                    owed.get_kind_display(),
                    link(owed, _arrival(owed)),
                    snippet(_as_sent(owed), 160),
                )
                for owed in questions.messages_of(row)
            ),
        )

    @admin.display(description="answers so far")
    def answered(self, row: Prompt) -> str | SafeString:
        """Each question with its answer."""
        given = row.given

        def told(key: str) -> str:
            if key not in given:
                return "no answer yet" if row.is_open else "no answer"
            return ", ".join(given[key]) or "none of them"

        return lines(
            format_html("{} <strong>{}</strong>", question.text, told(question.key))
            for question in row.question_set.questions
        )

    @admin.display(description="operation")
    def summary(self, row: Prompt) -> str:
        """What is to be approved, in one line."""
        return f"{row.what.summary} (tool {row.what.tool})"

    @admin.display(description="risk")
    def risk(self, row: Prompt) -> str:
        """How much harm it can do."""
        return ENGLISH.levels[row.what.level]

    @admin.display(description="exactly what will run")
    def detail(self, row: Prompt) -> SafeString:
        """All of it, with secrets hidden."""
        return preformatted(row.what.detail)

    @admin.display(description="lasting approvals on offer")
    def offers(self, row: Prompt) -> str:
        """What somebody who approves may approve for good, and for how long."""
        spans = [
            ENGLISH.spans[reach].format(time=duration(seconds))
            for reach, seconds in row.what.lasts.items()
        ]
        return f"{row.what.covers} ({', '.join(spans)})" if spans else "none: only once"

    @admin.display(description="ruling")
    def ruling(self, row: Prompt) -> str:
        """What was decided, by whom, and why."""
        return approvals.ending(row.answers, State(row.state), by=row.resolved_by)

    @admin.display(description="lasting approvals it gave")
    def permits(self, row: Prompt) -> str | SafeString:
        """What needs no approval since."""
        return lines(link(permit) for permit in row.permits_given.all())


def _became(reply: Reply) -> str:
    """What became of a reply, with what the person was told."""
    outcome = "not taken" if reply.outcome == Effect.HINTED else reply.outcome
    return f"{outcome}: {reply.detail}" if reply.detail else outcome


def _as_sent(owed: Obligation) -> str:
    """The text of a message as people read it, and its buttons below as they stand."""
    texts = [part.rendered.plain for part in owed.parts.all()]
    rows = owed.native_controls.rows
    buttons = [" ".join(f"[ {button.label} ]" for button in line) for line in rows]
    return "\n".join([*(texts or [owed.content]), *buttons])


def _arrival(owed: Obligation) -> str:
    """Whether a message arrived, as which, or why not."""
    ids = ", ".join(part.message_id for part in owed.parts.all() if part.message_id)
    error = owed.reason or owed.last_error
    trouble = f": {error}" if error and owed.state != DeliveryState.DELIVERED else ""
    return f"{owed.state}{f' as message {ids}' if ids else ''}{trouble}"

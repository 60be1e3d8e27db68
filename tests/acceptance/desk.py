"""People at real browsers, before the Control UI of an installation."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.acceptance.stack import Stack
from tests.services import wait_until

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PASSWORD = "correct horse battery"
PEOPLE = 30
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
TABLET = {"viewport": {"width": 1024, "height": 768}, "has_touch": True, "is_mobile": True}
PATIENCE = 15_000  # milliseconds
BOSS = "boss"  # may approve everything


@contextmanager
def console_stack(data_dir, env=None) -> Iterator[Stack]:
    """An installation with people who may log in: `person0` and so on, and the boss."""
    with Stack(data_dir, env) as stack:
        stack.manage(
            "shell",
            "-c",
            "from django.contrib.auth.models import User\n"
            f"for number in range({PEOPLE}):\n"
            f"    User.objects.create_user(f'person{{number}}', password={PASSWORD!r},"
            " first_name='<b>Ada</b>')\n"
            f"User.objects.create_superuser({BOSS!r}, password={PASSWORD!r})",
        )
        yield stack


class Desk:
    """One person at one browser, who may have several tabs."""

    def __init__(self, browser, url, name, **options) -> None:
        self.url, self.name = url, name
        self.complaints: list[str] = []
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.tab()
        self.page.fill("[name=username]", name)
        self.page.fill("[name=password]", PASSWORD)
        self.page.press("[name=password]", "Enter")
        self.connected()

    def tab(self):
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._overhear)
        page.goto(self.url)
        return page

    def _overhear(self, message) -> None:
        if message.type == "error" and "WebSocket" not in message.text:
            self.complaints.append(message.text)

    def connected(self, page=None) -> None:
        (page or self.page).wait_for_selector("[data-state=connected]", state="attached")

    def until_connection(self, *, is_open) -> None:
        # Not the browser's own waiting: that evaluates text, which the page's policy forbids.
        def is_so() -> bool:
            self.page.wait_for_timeout(20)
            return self.page.evaluate("hermes.connection.isOpen") is is_open

        wait_until(is_so, f"the connection is open: {is_open}", within=15)

    def say(self, text, page=None) -> None:
        page = page or self.page
        page.fill("#composer-text", text)
        page.press("#composer-text", "Enter")

    def told(self, text, page=None):
        return (page or self.page).locator(".told:not(.is-live)", has_text=text)

    @property
    def card(self):
        """What waits for the person, docked or in the timeline."""
        return self.page.locator(".panel")

    @property
    def panel(self):
        return self.page.locator("#stepper .panel")

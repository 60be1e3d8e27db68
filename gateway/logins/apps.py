"""The app of logins."""

from django.apps import AppConfig
from django.contrib import admin
from typing_extensions import override


class LoginsConfig(AppConfig):
    """Who tries to log in, and how often in vain."""

    name = "gateway.logins"
    label = "logins"
    verbose_name = "Logins"

    @override
    def ready(self) -> None:
        """Let the admin's own login page have the same limits, and old rows go."""
        from delivery import forgetting  # noqa: PLC0415 - models are loaded only now
        from gateway.logins import forms, tries  # noqa: PLC0415

        admin.site.login_form = forms.LoginForm
        for rule in tries.RULES:
            forgetting.register_rule(rule)

#!/usr/bin/env python
"""Django's command line for this site."""

import os
import sys


def main() -> None:
    """Run one management command, or the whole installation."""
    if sys.argv[1:2] == ["up"]:
        # Not a Django command: what supervises must start before, and outlive, what uses Django.
        from hermes_site.supervisor.main import main as supervise  # noqa: PLC0415

        sys.exit(supervise(sys.argv[2:]))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hermes_site.settings")  # noqa: TID251 - the entry point
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415
    from django.core.management import execute_from_command_line  # noqa: PLC0415 - after the setting

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:  # a sentence that says what to do
        sys.exit(str(error))


if __name__ == "__main__":
    main()

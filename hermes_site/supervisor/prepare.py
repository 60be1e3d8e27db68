"""Brings the database up to date and makes the first login: run as a process of its own.

    python -m hermes_site.supervisor.prepare

The supervisor stays small because this, not it, loads Django. What a person must see, a login once
or what is wrong, goes to standard output as JSON; everything else goes to standard error, which is
logged.
"""

import json
import secrets
import sys
import traceback

OPERATOR = "admin"


def main() -> int:
    """Migrate, then create the operator if nobody can administer this installation.

    Returns:
        The exit code; 1 if the database or the settings refuse.
    """
    import django  # noqa: PLC0415 - importing this module must stay free
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415
    from django.core.management import call_command  # noqa: PLC0415
    from django.db import DatabaseError, InterfaceError  # noqa: PLC0415

    try:
        django.setup()
        call_command("migrate", interactive=False, stdout=sys.stderr, stderr=sys.stderr)
        said: dict[str, str] = create_operator()
    except (ImproperlyConfigured, DatabaseError, InterfaceError) as error:
        traceback.print_exc()
        said = {"problem": (str(error).strip().splitlines() or [type(error).__name__])[0]}
    sys.stdout.write(json.dumps(said))
    return 1 if "problem" in said else 0


def create_operator() -> dict[str, str]:
    """Make a superuser with a random password unless there is a superuser.

    Returns:
        The login, as `operator` and `password`; empty when there was one. The password is kept
        nowhere but as the database's hash.
    """
    from django.contrib.auth import get_user_model  # noqa: PLC0415 - after the setup

    users = get_user_model().objects
    if users.filter(is_superuser=True).exists():
        return {}
    password = secrets.token_urlsafe(12)
    name = OPERATOR
    while users.filter(username=name).exists():
        name = f"{OPERATOR}-{secrets.token_hex(2)}"
    users.create_superuser(username=name, email="", password=password)
    return {"operator": name, "password": password}


if __name__ == "__main__":
    sys.exit(main())

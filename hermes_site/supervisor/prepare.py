"""Brings the database up to date and makes the first login: run as a process of its own.

    python -m hermes_site.supervisor.prepare

The supervisor stays small because this, not it, loads Django. What a person must see once goes to
standard output as JSON; everything else goes to standard error, which is logged.
"""

import json
import secrets
import sys

OPERATOR = "admin"


def main() -> None:
    """Migrate, then create the operator if nobody can administer this installation."""
    import django  # noqa: PLC0415 - importing this module must stay free

    django.setup()
    from django.core.management import call_command  # noqa: PLC0415 - after the setup

    call_command("migrate", interactive=False, verbosity=1, stdout=sys.stderr, stderr=sys.stderr)
    created = create_operator()
    sys.stdout.write(json.dumps(created))


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
    main()

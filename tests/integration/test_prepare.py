"""The first login of a new installation."""

import pytest
from django.contrib.auth import authenticate, get_user_model

from hermes_site.supervisor.prepare import create_operator

pytestmark = pytest.mark.django_db


def test_a_new_installation_gets_an_operator_who_can_log_in():
    login = create_operator()

    user = authenticate(username=login["operator"], password=login["password"])
    assert user is not None
    assert user.is_superuser


def test_an_installation_with_a_superuser_gets_none():
    get_user_model().objects.create_superuser("root")

    assert create_operator() == {}


def test_an_ordinary_user_called_admin_keeps_the_name():
    get_user_model().objects.create_user("admin")

    login = create_operator()

    assert login["operator"].startswith("admin-")


@pytest.mark.django_db(transaction=True)
def test_the_tests_run_on_the_database_that_was_asked_for():
    import os

    from django.db import connection

    assert connection.vendor.startswith(os.environ.get("TEST_DATABASE", "sqlite")[:8])
    assert "memory" not in str(connection.settings_dict["NAME"])

"""[A6]: what the two groups of staff may, which every installation has."""

import pytest
from django.contrib.auth.models import Group, Permission
from django.urls import reverse

from gateway import crews
from tests.factories import make_allow_entry, make_staff

pytestmark = pytest.mark.django_db


def member_of(name: str, client):
    user = make_staff(name.lower(), is_superuser=False)
    user.groups.add(Group.objects.get(name=name))
    client.force_login(user)
    return user


def test_every_deed_of_operators_is_a_permission_that_there_is() -> None:
    there = set(Permission.objects.values_list("content_type__app_label", "codename"))
    assert set(crews.deeds()) - there == set()


@pytest.mark.proves("A6")
def test_both_groups_are_there_after_migrating() -> None:
    assert set(Group.objects.values_list("name", flat=True)) >= {"Operators", "Auditors"}


@pytest.mark.proves("A6")
def test_auditors_read_everything_and_change_nothing(client) -> None:
    user = member_of("Auditors", client)

    assert {name.rpartition(".")[2].partition("_")[0] for name in user.get_all_permissions()} == {
        "view"
    }
    entry = make_allow_entry()
    url = reverse("admin:gateway_allowentry_change", args=[entry.pk])
    assert client.get(url).status_code == 200
    assert client.post(url, {"note": "changed"}).status_code == 403
    assert client.get(reverse("admin:gateway_auditevent_changelist")).status_code == 200


@pytest.mark.proves("A6")
def test_operators_let_people_in_and_stop_turns_and_approve_nothing(client) -> None:
    user = member_of("Operators", client)

    may = ["gateway.add_allowentry", "gateway.change_turn", "identity.change_pairing"]
    assert all(user.has_perm(name) for name in may)
    assert not user.has_perm("clarify.approve_operation")
    assert not user.has_perm("auth.change_user")
    assert client.get(reverse("admin:gateway_allowentry_add")).status_code == 200


def test_what_staff_added_to_a_group_stays(client) -> None:
    group = Group.objects.get(name="Operators")
    more = Permission.objects.get(codename="approve_operation")
    group.permissions.add(more)
    group.permissions.remove(Permission.objects.get(codename="change_turn"))

    crews.complete()

    names = set(group.permissions.values_list("codename", flat=True))
    assert {"approve_operation", "change_turn"} <= names

"""Leases: one owner at a time, with a number that fences off the others."""

from datetime import timedelta

import pytest

from delivery import leases
from delivery.models import Lease
from delivery.processes import is_certainly_dead, this_process
from tests.integration.racing import race

TTL = timedelta(seconds=20)


def acquire(owner: str, clock, *, dead: tuple[str, ...] = (), name: str = "account:a"):
    return leases.acquire(name, owner, now=clock(), ttl=TTL, is_dead=lambda one: one in dead)


@pytest.mark.django_db
def test_a_free_lease_is_taken_with_a_number(clock) -> None:
    fence = acquire("one", clock)
    assert (fence.name, fence.owner, fence.epoch) == ("account:a", "one", 1)
    assert leases.is_current(fence)


@pytest.mark.django_db
def test_a_living_owner_is_left_in_peace(clock) -> None:
    fence = acquire("one", clock)
    clock.advance(19)
    assert acquire("two", clock) is None
    assert leases.is_current(fence)


@pytest.mark.django_db
def test_a_lease_that_ran_out_is_free(clock) -> None:
    old = acquire("one", clock)
    clock.advance(20)
    new = acquire("two", clock)
    assert new.epoch == old.epoch + 1
    assert not leases.is_current(old)


@pytest.mark.django_db
def test_a_dead_owner_is_not_waited_for(clock) -> None:
    acquire("one", clock)
    assert acquire("two", clock, dead=("one",)).epoch == 2


@pytest.mark.django_db
def test_taking_it_again_gives_a_new_number(clock) -> None:
    first = acquire("one", clock)
    second = acquire("one", clock)
    assert second.epoch == first.epoch + 1
    assert not leases.is_current(first)


@pytest.mark.django_db
def test_a_renewed_lease_lasts_longer(clock) -> None:
    fence = acquire("one", clock)
    clock.advance(15)
    assert leases.renew(fence, now=clock(), ttl=TTL)
    clock.advance(15)
    assert acquire("two", clock) is None


@pytest.mark.django_db
def test_a_lost_lease_cannot_be_renewed_or_released(clock) -> None:
    old = acquire("one", clock)
    clock.advance(21)
    new = acquire("two", clock)
    assert not leases.renew(old, now=clock(), ttl=TTL)
    leases.release(old, now=clock())
    assert leases.is_current(new)
    assert acquire("three", clock) is None


@pytest.mark.django_db
def test_a_released_lease_is_free_at_once(clock) -> None:
    fence = acquire("one", clock)
    leases.release(fence, now=clock())
    assert not leases.is_current(fence)
    assert acquire("two", clock).epoch == 2


@pytest.mark.django_db
def test_each_name_has_its_own_lease(clock) -> None:
    assert acquire("one", clock, name="account:a")
    assert acquire("two", clock, name="account:b")


@pytest.mark.proves("P2")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("how", ["new", "ran out", "dead"])
def test_of_many_who_reach_for_it_exactly_one_gets_it(clock, how) -> None:
    if how != "new":
        acquire("zero", clock)
    if how == "ran out":
        clock.advance(21)
    dead = ("zero",) if how == "dead" else ()
    results = race(*[lambda n=n: acquire(f"owner {n}", clock, dead=dead) for n in range(6)])
    fences = [fence for fence in results if fence is not None]
    assert not [result for result in results if isinstance(result, Exception)]
    assert len(fences) == 1
    assert leases.is_current(fences[0])
    assert Lease.objects.get().owner == fences[0].owner


def test_this_process_is_not_dead() -> None:
    assert not is_certainly_dead(this_process())


def test_a_process_with_the_same_number_and_another_birth_is_dead() -> None:
    place, pid, _ = this_process().rsplit("/", 2)
    assert is_certainly_dead(f"{place}/{pid}/1")


def test_a_process_that_is_no_more_is_dead() -> None:
    place, _, _ = this_process().rsplit("/", 2)
    assert is_certainly_dead(f"{place}/4194303/1")


@pytest.mark.parametrize("owner", ["elsewhere.abc.1/1/1", "", "nonsense", "a/b/c", "x/²/1"])
def test_a_process_that_cannot_be_judged_counts_as_living(owner: str) -> None:
    assert not is_certainly_dead(owner)

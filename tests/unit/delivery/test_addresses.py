"""Addresses, and the lanes in which messages keep their order."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from delivery.addresses import Address

ids = st.text(st.sampled_from("ab:%|/ \u202e\U0001f600"), max_size=6)
addresses = st.builds(
    Address,
    platform=ids,
    account=ids,
    chat_id=ids,
    scope_id=ids,
    chat_type=st.sampled_from(["dm", "group"]),
    thread_id=ids,
)


@given(addresses, addresses)
def test_two_places_never_share_a_lane(one: Address, other: Address) -> None:
    if replace(one, chat_type="") != replace(other, chat_type=""):
        assert one.lane != other.lane


@given(addresses)
def test_the_type_of_a_chat_does_not_change_its_lane(address: Address) -> None:
    assert replace(address, chat_type="group").lane == replace(address, chat_type="dm").lane


@given(addresses)
def test_an_address_comes_back_from_its_column(address: Address) -> None:
    assert Address.from_dict(address.as_dict()) == address


def test_an_id_with_a_colon_is_not_two_fields() -> None:
    one = Address(platform="webhook", account="w", chat_id="a:b", thread_id="c")
    other = Address(platform="webhook", account="w", chat_id="a", thread_id="b:c")
    assert one.lane != other.lane

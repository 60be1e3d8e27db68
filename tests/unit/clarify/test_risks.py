"""Levels of risk have an order."""

import itertools

import pytest

from clarify.risks import RiskLevel

LEVELS = ["low", "medium", "high", "critical"]


def test_levels_are_compared_by_rank_and_not_by_their_letters():
    assert sorted(RiskLevel, reverse=True) == [RiskLevel(level) for level in reversed(LEVELS)]
    assert max(RiskLevel) is RiskLevel.CRITICAL


@pytest.mark.parametrize(("one", "other"), list(itertools.product(RiskLevel, repeat=2)))
def test_every_comparison_agrees_with_the_rank(one, other):
    assert (one < other) is (one.rank < other.rank)
    assert (one <= other) is (one.rank <= other.rank)
    assert (one > other) is (one.rank > other.rank)
    assert (one >= other) is (one.rank >= other.rank)
    assert (one == other) is (one.rank == other.rank)


def test_a_level_is_the_text_that_is_stored():
    assert [str(level) for level in RiskLevel] == LEVELS
    assert {RiskLevel.LOW: 1}["low"] == 1

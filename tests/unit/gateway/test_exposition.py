"""The text format of Prometheus, read back by Prometheus' own library."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from gateway.metrics.exposition import Family, Sample, text

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def read(page: str) -> dict[str, tuple[str, list[tuple[dict[str, str], float]]]]:
    """The families of a page: their help, and their samples."""
    return {
        family.name: (
            family.documentation,
            [(dict(sample.labels), sample.value) for sample in family.samples],
        )
        for family in text_string_to_metric_families(page)
    }


def test_a_family_without_samples_says_what_it_would_tell() -> None:
    assert text([Family("a_b", "What it is.")]) == "# HELP a_b What it is.\n# TYPE a_b gauge\n"


@pytest.mark.proves("O1")
@pytest.mark.parametrize("value", [0, 1, True, 1.5, 1e21, 0.1 + 0.2, -3])
def test_a_number_comes_back_as_it_was(value) -> None:
    page = text([Family("n", "N.", (Sample(value),))])

    assert read(page) == {"n": ("N.", [({}, float(value))])}


@pytest.mark.proves("O1")
@given(value=WORDS, other=WORDS)
def test_whatever_a_label_says_comes_back_as_it_was(value, other) -> None:
    family = Family("n", "N.", (Sample(1, {"a": value, "b": other}), Sample(2)))

    assert read(text([family])) == {"n": ("N.", [({"a": value, "b": other}, 1), ({}, 2)])}


def test_families_stand_one_after_the_other() -> None:
    page = text([Family("a", "A \\ B.", (Sample(1),)), Family("b", "B.", (Sample(2),))])

    assert list(read(page)) == ["a", "b"]
    assert page.endswith("b 2\n")

"""What a file may be called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.media import names


# B142
@pytest.mark.proves("D17")
@pytest.mark.parametrize(
    ("given_name", "seen"),
    [
        ("report.pdf", "report.pdf"),
        ("../../../root/.ssh/authorized_keys", "authorized_keys"),
        ("/etc/cron.d/x", "x"),
        ("..\\..\\windows\\win.ini", "win.ini"),
        ("a\x00.png", "a.png"),
        ("..", ""),
        (".", ""),
        ("", ""),
        ("ev\u202egnp.exe", "evgnp.exe"),
        ("two\nlines\t.txt", "two lines .txt"),
        ("a:b*c?.txt", "a_b_c_.txt"),
        ("[x](y)`z`.md", "_x_(y)_z_.md"),
        (".hidden", "hidden"),
        ("zero\u200bwidth\ufeff.txt", "zerowidth.txt"),
        ("报告 最终.pdf", "报告 最终.pdf"),
        ("n" * 300 + ".tar", "n" * 75 + "….tar"),
    ],
)
def test_a_name_is_made_fit_to_be_seen(given_name, seen):
    assert names.display(given_name) == seen


@pytest.mark.parametrize(
    ("given_name", "suffix", "taken", "fitting"),
    [
        ("cat.jpg", ".jpg", (), "cat.jpg"),
        ("cat.jpg", ".jpg", ("cat.jpg",), "cat-2.jpg"),
        ("Cat.JPG", ".jpg", ("cat.jpg", "cat-2.jpg"), "Cat-3.JPG"),
        ("cat", ".jpg", (), "cat.jpg"),
        ("", ".png", (), "file.png"),
        ("..", "", (), "file"),
        ("con.txt", "", (), "_con.txt"),
        ("AUX", "", (), "_AUX"),
        ("-rf", "", (), "rf"),
        ("photo", ".jpg", ("photo.jpg",), "photo-2.jpg"),
    ],
)
def test_a_name_fits_into_a_directory(given_name, suffix, taken, fitting):
    assert names.fitting(given_name, suffix, taken) == fitting


@given(st.text(max_size=400), st.sampled_from(["", ".jpg", ".tar"]))
def test_any_name_is_one_part_of_a_path_that_no_system_minds(name, suffix):
    made = names.fitting(name, suffix, ())

    assert 0 < len(made) <= names.LONGEST + len(suffix) + 1
    assert "/" not in made
    assert "\\" not in made
    assert "\x00" not in made
    assert made not in {".", ".."}
    assert not made.startswith((".", "-", " "))
    assert made.isprintable()

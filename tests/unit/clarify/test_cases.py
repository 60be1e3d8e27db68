"""Public bug reports of other gateways, as far as they are about reading an answer.

Each test names the reports it is taken from; the replies are our own.
"""

import pytest

from clarify.choices import Chosen, Declined, Own, Unclear, looks_like_answer, read_one, read_set
from clarify.consent import Verdict, read_consent
from clarify.schema import Option, Question, normalise_clarify
from clarify.wording import ENGLISH

STAGES = Question("answer", "", "Which stage?", tuple(map(Option, ("test", "beta", "live"))))
REGIONS = Question(
    "answer", "", "Move where?", tuple(map(Option, ("Move to us-east", "Move to us-south", "Stay")))
)


# B001: NousResearch/hermes-agent#25567
@pytest.mark.parametrize(
    "text", ["2", "\t2 ", "2.", "2)", "#2", "(2)", "beta", "BETA", " Beta.", "２", "②", "۲"]
)
def test_a_numbered_list_is_answered_by_number_or_label(text: str) -> None:
    assert read_one(STAGES, text) == Chosen(("beta",))


# B003: NousResearch/hermes-agent#84608
@pytest.mark.parametrize(
    "text", ["we should try the old machine before", "are you there?", "nothing happens here"]
)
def test_prose_that_is_no_option_is_an_answer_at_once(text: str) -> None:
    assert read_one(STAGES, text) == Own(text)


# B005: NousResearch/hermes-agent#96996
def test_a_fragment_of_two_labels_is_asked_about_and_one_of_a_single_label_resolves() -> None:
    reading = read_one(REGIONS, "us")

    assert isinstance(reading, Unclear)
    assert "Move to us-east" in ENGLISH.say(reading.hint)
    assert "Stay" not in ENGLISH.say(reading.hint)
    assert read_one(REGIONS, "south") == Chosen(("Move to us-south",))


# B005: NousResearch/hermes-agent#96996
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        *(("0", "out_of_range"), ("4", "out_of_range"), ("-2", "out_of_range")),
        *(
            ("88888888888888888888888", "out_of_range"),
            ("1 3", "choose_one"),
            ("2,3", "choose_one"),
        ),
    ],
)
def test_a_number_that_names_no_one_option_stays_a_hint(text: str, reason: str) -> None:
    reading = read_one(REGIONS, text)

    assert isinstance(reading, Unclear)
    assert reading.reason == reason


# B007: NousResearch/hermes-agent#112684
def test_silence_after_the_first_of_three_leaves_the_other_two_unanswered() -> None:
    asked = tuple(Question(key, "", f"{key}?") for key in ("name", "colour", "size"))
    first = read_set(asked, {}, "Apollo", one_at_a_time=True)
    silence = read_set(asked, first.answers, "", one_at_a_time=True)

    assert first.answers == {"name": ("Apollo",)}
    assert silence.is_nothing
    assert silence.answers == {}
    assert silence.still_open == ("colour", "size")


# B013: Significant-Gravitas/AutoGPT#14435
def test_labels_alike_for_eighty_characters_are_told_apart_by_number_and_by_their_end() -> None:
    stem = "Throw away all log files of the previous year on the machine in the cellar except the "
    asked = normalise_clarify("Which?", [f"{stem}mails", f"{stem}orders"]).questions[0]

    assert read_one(asked, "2") == Chosen((f"{stem}orders",))
    assert read_one(asked, "orders") == Chosen((f"{stem}orders",))
    assert isinstance(read_one(asked, stem), Unclear)


# B013: Significant-Gravitas/AutoGPT#14435
def test_the_same_label_twice_is_one_option() -> None:
    asked = normalise_clarify("Sure?", ["Yes", "yes ", "Yes", "No"]).questions[0]

    assert asked.labels == ("Yes", "No")
    assert read_one(asked, "yes") == Chosen(("Yes",))


# B017: kdlbs/kandev#3799
def test_a_late_number_or_label_is_known_for_what_it_is_and_a_sentence_is_not() -> None:
    asked = Question("answer", "", "Which store?", (Option("SQLite"), Option("MariaDB")))

    assert looks_like_answer(asked, "2")
    assert looks_like_answer(asked, "mariadb")
    assert not looks_like_answer(asked, "how is MariaDB licensed?")


# B019: elie222/rakazo#910
def test_turning_all_options_down_for_another_is_own_words_and_approves_nothing() -> None:
    asked = Question("answer", "", "Which?", (Option("A"), Option("B")))

    assert read_one(asked, "neither, use D") == Own("neither, use D")
    assert read_one(asked, "neither") == Declined()
    assert read_consent("neither, use D").verdict is Verdict.UNCLEAR


# B023: openclaw/openclaw#130262
def test_a_number_counts_in_the_order_in_which_the_options_are_kept() -> None:
    asked = Question("answer", "", "Which?", tuple(map(Option, ("W", "X", "Y (Recommended)", "Z"))))

    assert [read_one(asked, str(n)) for n in (1, 2, 3, 4)] == [Chosen((x,)) for x in asked.labels]


# B025: openclaw/openclaw#124148
def test_a_question_about_something_else_never_looks_like_an_answer() -> None:
    assert not looks_like_answer(STAGES, "will it rain tomorrow")
    assert not looks_like_answer(REGIONS, "what time is it there")


PLACE = (Question("town", "Town", "Which town?"), Question("price", "Price", "How much?"))


# B027: openclaw/openclaw#145126
def test_one_line_for_two_questions_gets_one_correction_that_names_the_missing_one() -> None:
    reading = read_set(PLACE, {}, "Bergen")

    assert reading.answers == {}
    assert [ENGLISH.say(hint) for hint in reading.hints] == [ENGLISH.say(reading.hints[0])]
    assert "2. Price" in ENGLISH.say(reading.hints[0])


# B027: openclaw/openclaw#145126
@pytest.mark.parametrize(
    "text", ["1. Bergen\n2. 700", "town: Bergen\nprice: 700", "Bergen\n700", "2) 700\n1) Bergen"]
)
def test_two_lines_for_two_questions_answer_both(text: str) -> None:
    reading = read_set(PLACE, {}, text)

    assert reading.answers == {"town": ("Bergen",), "price": ("700",)}
    assert reading.is_complete


# B029: milind-soni/OpenMausBot#344
def test_an_option_called_allow_is_an_option_like_any_other() -> None:
    asked = Question("answer", "", "For visitors?", (Option("Allow"), Option("Deny")))

    assert read_one(asked, "Allow") == Chosen(("Allow",))
    assert read_one(asked, "deny") == Chosen(("Deny",))


# B046: HybridAIOne/hybridclaw#1482
@pytest.mark.parametrize("text", ["4", "#4", "approve 4", "/approve 4", "A1", "2. Approve"])
def test_numbers_and_commands_are_no_words_of_consent(text: str) -> None:
    assert read_consent(text).verdict is Verdict.UNCLEAR


# B048: NousResearch/hermes-agent#54110
@pytest.mark.parametrize("text", ["", "\u200b", "…", "[approval expired]", "timeout"])
def test_silence_and_notices_approve_nothing(text: str) -> None:
    assert read_consent(text).verdict is Verdict.UNCLEAR

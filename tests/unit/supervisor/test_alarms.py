from hermes_site.supervisor.alarms import LONGEST_RECORD_LINES, Alarms

INFO = "2026-01-31T12:00:00.123Z INFO gateway.intake: took ERROR as text"
LATE = INFO.replace("took", "took " + "x" * 80)
WARNING = "2026-01-31T12:00:00.123Z WARNING gateway.runner: account telegram: refused"
CELERY = "[2026-11-30 13:00:00,123: ERROR/MainProcess] consumer: Cannot connect"


def shown(*lines):
    alarms = Alarms()
    return [line for line in lines if alarms.is_alarming(line)]


def test_warnings_and_errors_are_shown_and_the_rest_is_not():
    assert shown(LATE, WARNING, LATE, CELERY, LATE) == [WARNING, CELERY]


def test_a_traceback_is_shown_with_the_record_it_belongs_to():
    trace = ["Traceback (most recent call last):", '  File "x.py", line 1', "ValueError: no"]

    assert shown(WARNING, *trace, LATE, "  after") == [WARNING, *trace]


def test_a_traceback_alone_is_shown():
    trace = ["Traceback (most recent call last):", '  File "x.py", line 1', "ImportError: x"]

    assert shown("hello", *trace) == trace


def test_the_last_words_of_a_failing_command_are_shown():
    assert shown("loading", "CommandError: no such account") == ["CommandError: no such account"]


def test_a_flood_below_one_record_is_cut():
    flood = [f"  line {number}" for number in range(LONGEST_RECORD_LINES * 2)]

    assert len(shown(WARNING, *flood)) == 1 + LONGEST_RECORD_LINES

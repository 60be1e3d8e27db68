from hermes_site.supervisor.alarms import KNOWN_FAULTS, QUIET_SECONDS, Alarms

INFO = "2026-01-31T12:00:00.123Z INFO gateway.intake: took ERROR as text"
LATE = INFO.replace("took", "took " + "x" * 80)
WARNING = "2026-01-31T12:00:00.123Z WARNING gateway.runner: account telegram: refused"
CELERY = "[2026-11-30 13:00:00,123: ERROR/MainProcess] consumer: Cannot connect"
TRACE = ["Traceback (most recent call last):", '  File "x.py", line 1', "ValueError: no"]


def shown(*lines):
    alarms = Alarms()
    return [text for line in lines if (text := alarms.shown(line, now=0))]


def test_warnings_and_errors_are_shown_and_the_rest_is_not():
    assert shown(LATE, WARNING, LATE, CELERY, LATE) == [WARNING, CELERY]


def test_of_a_record_only_the_first_line_is_shown():
    assert shown(WARNING, *TRACE, "", "  and more", "advice", LATE) == [WARNING]


def test_of_a_traceback_alone_what_was_raised_is_shown():
    assert shown("hello", *TRACE, "hello", "bye") == ["ValueError: no"]


def test_of_an_error_that_led_to_another_both_are_named():
    link = "During handling of the above exception, another exception occurred:"
    other = [*TRACE[:2], "OSError: yes"]

    assert shown(*TRACE, "", link, "", *other) == ["ValueError: no", "OSError: yes"]


def test_the_last_words_of_a_failing_command_are_shown():
    assert shown("loading", "CommandError: no such account") == ["CommandError: no such account"]


def again(alarms, line, seconds):
    return alarms.shown(line, now=seconds)


def test_a_fault_that_goes_on_is_shown_once_a_minute_with_how_often_it_came():
    alarms = Alarms()

    assert again(alarms, WARNING, 0) == WARNING
    assert again(alarms, WARNING.replace("12:00:00", "12:00:09"), 9) == ""
    assert again(alarms, WARNING, QUIET_SECONDS - 1) == ""
    assert again(alarms, WARNING, QUIET_SECONDS) == f"{WARNING} (and 2 more like it)"
    assert again(alarms, WARNING, QUIET_SECONDS * 2) == WARNING


def test_a_fault_is_the_same_with_other_numbers_and_another_with_other_words():
    alarms = Alarms()
    alarms.shown(f"{WARNING} try=1", now=0)

    assert again(alarms, f"{WARNING} try=27", 1) == ""
    assert again(alarms, f"{WARNING} once=1", 1) != ""


def test_only_so_many_faults_are_remembered():
    alarms = Alarms()
    for number in range(KNOWN_FAULTS * 2):
        alarms.shown(f"{WARNING} {'x' * number}", now=0)

    assert len(alarms._faults) == KNOWN_FAULTS

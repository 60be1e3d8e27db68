from hermes_site.supervisor.backoff import Backoff


def test_each_early_end_doubles_the_wait_up_to_the_top():
    backoff = Backoff()

    waits = [backoff.after(lived_seconds=1) for _ in range(7)]

    assert waits == [0.5, 1, 2, 4, 8, 15, 15]


def test_a_long_life_starts_the_waits_over():
    backoff = Backoff()
    for _ in range(5):
        backoff.after(lived_seconds=1)

    assert backoff.after(lived_seconds=60) == 0.5
    assert backoff.after(lived_seconds=59) == 1

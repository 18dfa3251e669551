"""The bar: asked for, or by itself once a run has lasted for a while; with an estimate of the rest."""

import io
import sys
import time

import pytest

import bezierflow as bf
from bezierflow.flows import SCHEDULE, progress_bar


class Terminal(io.StringIO):
    """Standard error on a terminal."""

    def isatty(self):
        return True


def on_terminal(monkeypatch):
    """Gives what standard error, a terminal, shows. Called in the test itself: pytest has a stream of
    its own for fixtures."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    return sys.stderr.getvalue


def test_a_bar_that_was_asked_for_is_there_at_once(monkeypatch):
    terminal = on_terminal(monkeypatch)
    with progress_bar(True, 10, "runs") as update:
        update(5, "error 0.1")
    assert "runs" in terminal()
    assert "5/10, error 0.1" in terminal()


def test_a_short_run_shows_none(monkeypatch):
    terminal = on_terminal(monkeypatch)
    with progress_bar(None, 10, "runs") as update:
        update(5, "")
    assert terminal() == ""


def test_a_long_run_shows_one_even_within_its_first_iteration(monkeypatch):
    terminal, nearly = on_terminal(monkeypatch), time.monotonic() - SCHEDULE.patience + 0.05
    with progress_bar(None, None, "an atlas", nearly):
        deadline = time.monotonic() + 20
        while "an atlas" not in terminal() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "an atlas" in terminal()


def test_time_before_a_part_of_a_run_counts(monkeypatch):
    terminal = on_terminal(monkeypatch)
    with progress_bar(None, None, "an atlas", began=time.monotonic() - 10) as update:
        update(3, "")
    assert "an atlas" in terminal()


def test_a_script_shows_none(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_bar(None, 10, "runs", time.monotonic() - 10) as update:
        update(5, "")
    assert sys.stderr.getvalue() == ""


@pytest.mark.parametrize(
    ("seconds", "share", "words"),
    [
        (300.0, 0.5, "about 5 min left"),
        (30.0, 0.5, "about 30 s left"),
        (3600.0, 0.2, "about 4 h left"),
        (10.0, 0.001, "left"),
        (10.0, 1.0, "left"),
    ],
)
def test_the_rest_is_estimated_by_the_share_that_is_done(monkeypatch, seconds, share, words):
    terminal, now = on_terminal(monkeypatch), time.monotonic
    with progress_bar(True, None, "runs") as update:
        monkeypatch.setattr(time, "monotonic", lambda: now() + seconds)
        update(5, "", share)
    assert (words in terminal()) == (SCHEDULE.least_share <= share < 1)


def test_flows_tell_how_far_they_are(monkeypatch):
    terminal = on_terminal(monkeypatch)
    bf.minimize(lambda x: [(x - 1) @ (x - 1), (x @ x) ** 2 + x @ x], [0.5, 0.2], progress=True)
    assert "one surface" in terminal()
    assert bf.NormalFlow(tol=1e-6).share_done({"error": 1e-3, "degree": 3}) == pytest.approx(0.5)
    assert bf.NormalFlow().share_done({"error": float("nan"), "degree": 1}) is None

"""Numbers for people, and progress that never breaks what it reports on."""

from __future__ import annotations

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu import log
from danlu.log import Progress, human, human_bytes, human_seconds, progress, say, visible


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (999.4, "999"),
        (999.5, "1K"),  # ties go to even digits, here 1000
        (1000, "1K"),
        (1_234_567, "1.23M"),
        (999_499, "999K"),
        (999_600, "1M"),
        (-25_000_000, "-25M"),
        (2e9, "2B"),
        (15e12, "15T"),
        (999.9e12, "1e+15"),
        (1.5e18, "1.5e+18"),
        (0.00123, "0.00123"),
    ],
)
def test_human(number: float, text: str) -> None:
    assert human(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (999.7, "1 kB"),
        (1_500_000, "1.5 MB"),
        (64e6, "64 MB"),
        (2e15, "2 PB"),
    ],
)
def test_human_bytes(number: float, text: str) -> None:
    assert human_bytes(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.7, "1 min 00 s"),
        (75, "1 min 15 s"),
        (3599.6, "1 h 00 min"),
        (90_061, "25 h 01 min"),
    ],
)
def test_human_seconds(seconds: float, text: str) -> None:
    assert human_seconds(seconds) == text


@given(st.floats(1, 9e14))
def test_human_is_within_half_a_percent(number: float) -> None:
    text = human(number)
    scale = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}.get(text[-1], 1.0)
    assert float(text.rstrip("KMBT")) * scale == pytest.approx(number, rel=5.1e-3)


def test_unit_follows_the_number() -> None:
    assert human(1500, " tokens/s") == "1.5K tokens/s"


def test_say_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    say("hello")
    assert capsys.readouterr() == ("", "hello\n")


def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that the test moves."""
    now = [0.0]
    monkeypatch.setattr(log.time, "monotonic", lambda: now[0])
    return now


def test_line_has_share_rate_time_left_and_note(monkeypatch: pytest.MonkeyPatch) -> None:
    now = clock(monkeypatch)
    shown = Progress("train", total=400, unit="tokens", done=100)
    now[0] = 10.0
    shown.note("loss 2.5")
    shown.advance(100)
    assert shown.line() == "train: 200 of 400 tokens (50%), 10 tokens/s, 20 s left, loss 2.5"


def test_line_without_total_and_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = clock(monkeypatch)
    shown = Progress("read", total=None, unit="bytes")
    now[0] = 2.0
    shown.advance(3e6)
    assert shown.line() == "read: 3 MB, 1.5 MB/s"


def test_plain_lines_come_seldom(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = clock(monkeypatch)
    with progress("read", total=100, unit="files") as shown:
        for second in range(12):
            now[0] = float(second)
            shown.advance()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2, "one every five seconds"


def test_a_count_that_stands_still_is_said_once_a_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = clock(monkeypatch)
    with progress("read", total=100, unit="files") as shown:
        for second in range(200):
            now[0] = float(second)
            shown.advance(int(second == 130))
            if second == 150:
                shown.note("slow")
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[1] for line in lines] == ["0", "0", "1", "1"], "at 60, 120, 130 and 151 seconds"
    assert lines[-1].endswith("slow")


def test_bar_on_a_terminal_survives_brackets_and_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)

    def fail() -> None:
        with progress("read [/b] [red", total=10, unit="files") as shown:
            monkeypatch.setattr(log.time, "monotonic", lambda: 1e9)
            shown.note("[/not-a-tag]")
            shown.advance()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with progress("again", total=None, unit="files") as shown:  # the display of the first was closed
        shown.advance()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x1b]0;title\x07", "\\u001b[2J\\u001b]0;title\\u0007"),
        ("a\rb\x7f\x9b1m\x00", "a\\u000db\\u007f\\u009b1m\\u0000"),
        ("safe\u202egpj.exe\u2066", "safe\\u202egpj.exe\\u2066"),
        ("\udcff", "\\udcff"),
        ("丹炉 é 😀 [red]", "丹炉 é 😀 [red]"),
    ],
)
def test_what_commands_a_terminal_is_made_visible(
    text: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert visible(text) == visible(text, lines=True) == shown
    say(text)
    assert capsys.readouterr().err == shown + "\n"


def test_lines_and_tabs_stay_only_where_they_are_meant() -> None:
    assert visible("a\n\tb", lines=True) == "a\n\tb"
    assert visible("a\n\tb") == "a\\u000a\\u0009b"


@given(st.text())
def test_visible_is_printable_and_done_once(text: str) -> None:
    shown = visible(text, lines=True)
    assert not any(c in shown for c in "\x1b\r\x07\u202e")
    assert visible(shown, lines=True) == shown
    shown.encode()


def test_a_line_within_a_bar_goes_above_it_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    long = "note: [red] " + "a word " * 40 + "end"
    with progress("read", total=10, unit="files") as bar:
        assert isinstance(bar, log._Bar)
        printed: list[str] = []
        real = bar.print
        monkeypatch.setattr(bar, "print", lambda text: (printed.append(text), real(text)))
        say(long)
        assert printed == [long]
    say("after")
    lines = terminal.getvalue().splitlines()
    assert any(line.endswith(long) for line in lines)
    assert lines[-1].endswith("after")

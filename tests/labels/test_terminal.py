"""Pages and keys: no character commands the terminal, no line is too wide, every way of typing is understood."""

import io
import os
import pty
import select
import termios
import tty
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import DanluError
from danlu.labels.terminal import END, MORE, open_console, width, wrap


def columns_of(line):
    return sum(map(width, line))


@given(st.text(st.characters(), max_size=300), st.integers(20, 50))
def test_nothing_visible_is_lost_and_no_line_is_too_wide(text, columns):
    lines = list(wrap(text, columns))
    assert all(columns_of(line) <= columns for line in lines)
    shown = "".join(lines)
    assert all(character.isprintable() or not character.isascii() for character in shown)
    plain = "".join(character for character in text if character.isascii() and character.isalnum())
    kept = iter(shown)
    assert all(character in kept for character in plain)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("one two three", ["one two", "three"]),
        ("a\n\nb", ["a", "", "b"]),
        ("abcdefghijklmn", ["abcdefghij", "klmn"]),
        ("河水在夜里涨了起来", ["河水在夜里", "涨了起来"]),
        ("a\tb", ["a   b"]),
        ("\x1b[2J", ["\\u001b[2J"]),
        ("a\r\nb", ["a", "b"]),
        ("\u202eabc", ["\\u202eabc"]),
        ("e\u0301" * 10, ["e\u0301" * 10]),
    ],
)
def test_lines(text, lines):
    assert list(wrap(text, 10)) == lines


def test_a_long_text_is_wrapped_only_as_far_as_it_is_read():
    lines = wrap("word " * 10**6, 80)
    assert len(next(lines)) == 79


@pytest.fixture
def terminal():
    master, slave = pty.openpty()
    with os.fdopen(slave) as source:
        yield master, source
    os.close(master)


def test_keys_of_a_terminal(terminal):
    master, source = terminal
    before = termios.tcgetattr(source.fileno())
    with open_console(source, io.StringIO()) as console:
        assert not termios.tcgetattr(source.fileno())[tty.LFLAG] & (termios.ECHO | termios.ICANON)
        os.write(master, b"K 3\x1b[A\x1bOPq")
        assert [console.key() for _ in range(4)] == ["k", MORE, "3", "q"]
        os.write(master, "河".encode())
        assert console.key() == "河"
        os.write(master, b"\x04")
        assert console.key() == END
    assert termios.tcgetattr(source.fileno()) == before


def test_keys_typed_ahead_are_thrown_away(terminal):
    master, source = terminal
    with open_console(source, io.StringIO()) as console:
        os.write(master, b"kk")
        assert console.key() == "k"
        os.write(master, b"kkk")
        select.select([source], [], [], 30)
        console.forget_keys()
        os.write(master, b"d")
        assert console.key() == "d"


def test_piped_answers_all_count():
    with open_console(io.StringIO("k\nd\n"), io.StringIO()) as console:
        assert console.key() == "k"
        console.forget_keys()
        assert console.key() == "d"


def test_an_output_that_takes_no_more_is_one_error():
    with Path("/dev/full").open("w") as sink, open_console(io.StringIO(), sink) as console:
        with pytest.raises(DanluError, match="cannot write the output: No space left"):
            console.write("a text")
        sink.flush()


def test_the_terminal_is_restored_after_an_error(terminal):
    _, source = terminal
    before = termios.tcgetattr(source.fileno())
    with pytest.raises(KeyboardInterrupt), open_console(source, io.StringIO()):
        raise KeyboardInterrupt
    assert termios.tcgetattr(source.fileno()) == before


def test_piped_lines():
    with open_console(io.StringIO("Keep\n\n  3\n"), io.StringIO()) as console:
        assert [console.key() for _ in range(4)] == ["k", MORE, "3", END]


def test_what_the_sink_cannot_show_is_escaped():
    raw = io.BytesIO()
    with open_console(io.StringIO(), io.TextIOWrapper(raw, "ascii")) as console:
        console.write("河 ok")
    assert raw.getvalue() == b"\\u6cb3 ok"

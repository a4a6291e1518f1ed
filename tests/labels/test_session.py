"""A sitting: keys and what they store, in a row of keys and in a terminal of its own."""

import dataclasses
import os
import pty
import re
import select
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from danlu.errors import UsageError
from danlu.files import write_json
from danlu.labels.sample import Draw, Drawn, draw_path
from danlu.labels.session import Sitting, label_documents, name_of_labeller
from danlu.labels.store import read_labels, standing
from danlu.labels.terminal import END

TEXTS = ("first text", "second \x1b[31mtext\x07", "third 河水在夜里涨了起来 " + "word " * 2000, "fourth")
DOCUMENTS = [
    Drawn(place, f"d{place}", "web", "a.txt", "en", "length.short" if place % 2 else "", text, place != 1)
    for place, text in enumerate(TEXTS)
]


class Keys:
    """A console that is typed at by a script; what was shown is kept."""

    columns, rows = 40, 12

    def __init__(self, keys):
        self._keys = iter(keys)
        self.shown = ""
        self.forgotten = 0

    def forget_keys(self):
        self.forgotten += 1

    def write(self, text):
        self.shown += text

    def key(self):
        return next(self._keys, END)


def sit(path, keys, scale="keep", who="ann", documents=DOCUMENTS):
    console = Keys(keys)
    sitting = Sitting(path, scale, who, lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    return label_documents(documents, sitting, console), console.shown


def labels(path, scale="keep", who="ann"):
    own = standing(read_labels(path).labels, scale).get(who, {})
    return {one.id: one.label for one in own.values()}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "labels.jsonl"


def test_keys_are_labels_with_who_and_when(path):
    tally, shown = sit(path, "kdkd")
    assert (tally.labelled, tally.done, tally.total, tally.torn) == (4, 4, 4, 0)
    assert labels(path) == {"d0": "keep", "d1": "drop", "d2": "keep", "d3": "drop"}
    first = read_labels(path).labels[0]
    assert (first.who, first.when, first.scale) == ("ann", "2026-01-02T03:04:05+00:00", "keep")
    assert (first.number, first.domain, first.text_hash) == (0, "web", DOCUMENTS[0].text_hash)
    assert "[k keep, d drop, s skip, u undo, q quit]" in shown


def test_points(path):
    sit(path, "05x7k31", "0-5")
    assert labels(path, "0-5") == {"d0": 0, "d1": 5, "d2": 3, "d3": 1}
    assert labels(path) == {}


def test_nothing_is_shown_that_might_sway_or_command(path):
    _, shown = sit(path, "kkkk")
    _, again = sit(path, "dddd", who="bob")
    assert "length" not in shown
    assert "short" not in shown
    assert again == shown.replace("\nkeep", "\ndrop").replace("] keep\n", "] drop\n")
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\\u001b[31mtext\\u0007" in shown
    assert "(the beginning)" in shown


def test_it_goes_on_where_it_ended(path):
    assert sit(path, "kdq")[0].done == 2
    tally, shown = sit(path, "k")
    assert (tally.labelled, tally.done) == (1, 3)
    assert "third" in shown
    assert "first" not in shown
    assert sit(path, "d")[0].done == 4
    assert sit(path, "kkkk")[1] == ""
    assert labels(path) == {"d0": "keep", "d1": "drop", "d2": "keep", "d3": "drop"}


def test_skipped_ones_come_another_time(path):
    tally, _ = sit(path, "skkk")
    assert (tally.labelled, tally.done) == (3, 3)
    tally, shown = sit(path, "d")
    assert tally.done == 4
    assert "first text" in shown


def test_undo_takes_back_across_skips_and_sittings(path):
    assert sit(path, "ksuudq")[0].done == 1
    assert labels(path) == {"d0": "drop"}
    tally, shown = sit(path, "uuk")
    assert "There is nothing to take back." in shown
    assert tally.done == 1
    assert labels(path) == {"d0": "keep"}
    assert sit(path, "dddd")[0].done == 4


def test_keys_typed_ahead_are_forgotten_once_a_document(path):
    console = Keys("  kd")
    sitting = Sitting(path, "keep", "ann", lambda: datetime(2026, 1, 2, tzinfo=UTC))
    label_documents([DOCUMENTS[2], DOCUMENTS[0]], sitting, console)
    assert console.forgotten == 2


def test_long_texts_come_page_by_page(path):
    long = [DOCUMENTS[2]]
    shown = sit(path, "k", documents=long)[1]
    assert "space more" in shown
    assert shown.count("word") < 80
    pages = sit(path, " " * 1000 + "k", who="bob", documents=long)
    assert pages[1].count("word") == 2000
    assert labels(path, who="bob") == {"d2": "keep"}
    last = pages[1].rpartition("[")[2]
    assert "space" not in last


def test_the_end_of_keys_ends_it(path):
    assert sit(path, "k")[0].done == 1
    assert sit(path, "")[0].labelled == 0


def test_a_torn_line_is_reported(path):
    sit(path, "kq")
    path.write_bytes(path.read_bytes() + b'{"number": 1')
    assert sit(path, "q")[0].torn == 1


def test_names(monkeypatch):
    assert name_of_labeller(" mara ") == "mara"
    monkeypatch.setenv("LOGNAME", "ann")
    assert name_of_labeller(None) == "ann"
    for wrong in ("", " ", "endpoint:m", "a\x1b"):
        with pytest.raises(UsageError, match="no name of a person"):
            name_of_labeller(wrong)


CHILD = """
import fcntl, sys, termios
from datetime import UTC, datetime
from pathlib import Path
from danlu.labels.sample import Draw, open_draw
from danlu.labels.session import Sitting, label_documents
from danlu.labels.terminal import open_console

fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C reaches this process
folder = Path(sys.argv[1])
documents = open_draw(folder, folder / "none", Draw(4))
with open_console(sys.stdin, sys.stdout) as console:
    sitting = Sitting(folder / "labels.jsonl", "keep", sys.argv[2], lambda: datetime.now(UTC))
    tally = label_documents(documents, sitting, console)
print("done", tally.done, flush=True)
"""


class Screen:
    """A child process at the other side of a pseudo-terminal."""

    def __init__(self, *arguments):
        self._master, slave = pty.openpty()
        environment = {**os.environ, "LINES": "12", "COLUMNS": "40", "TERM": "dumb", "PYTHONUTF8": "1"}
        command = [sys.executable, "-c", CHILD, *arguments]
        ends = {"stdin": slave, "stdout": slave, "stderr": slave}
        self.process = subprocess.Popen(command, **ends, env=environment, start_new_session=True)
        os.close(slave)
        self.shown = b""

    def until(self, pattern):
        """Reads until what is shown next ends with a pattern; returns what came before."""
        found = None
        while (found := re.search(pattern, self.shown)) is None:
            assert select.select([self._master], [], [], 30)[0], f"waited for {pattern!r} in {self.shown!r}"
            self.shown += os.read(self._master, 65536)
        before, self.shown = self.shown[: found.end()], self.shown[found.end() :]
        return before.decode()

    def type(self, keys):
        os.write(self._master, keys)

    def close(self):
        code = self.process.wait(120)
        os.close(self._master)
        return code


def test_in_a_pseudo_terminal(tmp_path):
    documents = [dataclasses.asdict(document) for document in DOCUMENTS]
    write_json(draw_path(tmp_path, Draw(4)), {"draw": {}, "documents": documents})
    screen = Screen(str(tmp_path), "ann")
    prompt = rb"q quit[^\]]*\] "
    assert "first text" in screen.until(prompt)
    screen.type(b"kkkk")
    shown = screen.until(prompt)
    assert "\\u001b[31mtext\\u0007" in shown
    assert "\x1b" not in shown
    screen.type(b"xd")
    assert "third 河水" in screen.until(prompt)
    screen.type(b" \x1b[B")
    assert "word word" in screen.until(prompt)
    screen.type(b"u")
    assert "second" in screen.until(prompt)
    screen.type(b"k")
    screen.until(prompt)
    screen.type(b"q")
    screen.until(rb"done 2")
    assert screen.close() == 0
    assert labels(tmp_path / "labels.jsonl") == {"d0": "keep", "d1": "keep"}

    again = Screen(str(tmp_path), "ann")
    assert "third" in again.until(prompt)
    again.type(b"d")
    assert "fourth" in again.until(prompt)
    again.type(b"d")
    again.until(rb"done 4")
    assert again.close() == 0

    other = Screen(str(tmp_path), "bob")
    assert "first text" in other.until(prompt)
    other.type(b"\x03")
    other.until(rb"KeyboardInterrupt")
    assert other.close() != 0
    assert labels(tmp_path / "labels.jsonl", who="bob") == {}

"""A page that crashes, hangs or fails is one page."""

import os
import signal
import sys

import pytest

from danlu.errors import MissingError
from danlu.extract import guard
from danlu.extract.guard import HTML, ExtractionError, Extractor
from danlu.extract.html import extract_page
from web_archive import PAGE

DANGEROUS = """
import os, signal, sys
from danlu.extract import html, worker

pages = 0

def dangerous(data, charset, name):
    global pages
    pages += 1
    if data == b"crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    while data == b"hang":
        pass
    if data == b"half":
        os.write(worker_output, b'{"title": "ab')
        os.kill(os.getpid(), signal.SIGKILL)
    if data == b"eat" or (data == b"leak" and pages > 1):
        raise MemoryError
    print("noise on standard output")
    return html.Page(charset, data.decode(), 0)

worker_output = os.dup(1)
html.extract_page = dangerous
worker.CPU_SECONDS = 0.1
worker.main()
"""


@pytest.fixture
def dangerous(monkeypatch):
    monkeypatch.setattr(
        guard, "_command", lambda module, name: [sys.executable, "-c", DANGEROUS, module, name]
    )
    with Extractor("resiliparse") as extractor:
        yield extractor


def test_the_way_through_a_process_changes_nothing():
    with Extractor("resiliparse") as extractor:
        for page in (
            PAGE.encode(),
            "今天天气很好\ud800".encode("utf-8", "replace"),
            b"",
            b"\n{}\n" * 100_000,
        ):
            assert extractor.extract(page) == extract_page(page, "", "resiliparse")


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (b"half", "crashed on it .SIGKILL"),
        (b"crash", "crashed on it .SIGSEGV"),
        (b"hang", "took too long"),
        (b"eat", "raised MemoryError"),
    ],
)
def test_one_page_fails_and_the_others_go_on(dangerous, page, words):
    assert dangerous.extract(b"before", "utf-8") == ("utf-8", "before", 0)
    with pytest.raises(ExtractionError, match=words):
        dangerous.extract(page)
    assert dangerous.extract(b"after").text == "after"


def test_a_page_is_innocent_until_a_fresh_process_fails(dangerous):
    assert [dangerous.extract(page).text for page in (b"one", b"leak", b"leak")] == ["one", "leak", "leak"]


def test_a_process_that_was_killed_is_replaced():
    with Extractor("resiliparse") as extractor:
        first = extractor.extract(PAGE.encode())
        os.kill(extractor._process.pid, signal.SIGKILL)
        assert extractor.extract(PAGE.encode()) == first


def test_an_extractor_that_is_not_installed_is_named(monkeypatch):
    script = """
from danlu.extract import html, worker

def load(_):
    raise ImportError("no module x")

html.load = load
worker.main()
"""
    monkeypatch.setattr(guard, "_command", lambda module, name: [sys.executable, "-c", script, module, name])
    with (
        Extractor("trafilatura") as extractor,
        pytest.raises(MissingError, match=r'no module x; pip install "danlu\[corpus'),
    ):
        extractor.extract(b"x")


def test_nothing_is_started_or_left_running_without_need():
    with Extractor("resiliparse") as extractor:
        assert extractor._process is None
        extractor.extract(b"x")
        process = extractor._process
    assert process.poll() is not None


@pytest.mark.parametrize(
    "page",
    [
        "<svg><template>",
        "<table><tr><td colspan=1000000000 rowspan=1000000000>x",
        "<div>" * 3_000 + "x",
        "<a><b><i>" * 5_000 + "x" + "</a></b></i>" * 5_000,
        "<p>" + "&" * 100_000,
        "<!--" * 50_000,
        "<math><annotation-xml encoding=text/html><svg><template><table><td>",
    ],
)
def test_pages_that_broke_parsers_are_answered(page):
    with Extractor("resiliparse") as extractor:
        assert extractor.extract(page.encode()).replaced == 0


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("resiliparse", HTML),
        ("trafilatura", HTML),
        *((kind, "danlu.formats.books") for kind in ("epub", "pdf", "docx", "latex", "wikipedia")),
    ],
)
def test_every_extractor_loads_in_a_quarter_of_its_memory(monkeypatch, name, module):
    script = "from danlu.extract import worker; worker.MEMORY_BYTES //= 4; worker.main()"
    monkeypatch.setattr(guard, "_command", lambda *asked: [sys.executable, "-c", script, *asked])
    with Extractor(name, module) as extractor:
        extractor._started()
        assert extractor._process.poll() is None

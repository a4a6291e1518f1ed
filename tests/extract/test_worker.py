"""The process that extracts: what it answers."""

import io
import json

from danlu.extract import html, worker
from web_archive import PAGE


def ask(*pages, extractor="resiliparse"):
    asked = b"".join(
        json.dumps({"bytes": len(page), "charset": ""}).encode() + b"\n" + page for page in pages
    )
    answered = io.BytesIO()
    worker.serve(html, extractor, io.BytesIO(asked), answered)
    return [json.loads(line) for line in answered.getvalue().splitlines()]


def test_every_page_has_an_answer_in_order():
    ready, first, second = ask(PAGE.encode(), b"")
    assert ready == {}
    assert (first["title"], first["replaced"]) == ("Salt & pepper", 0)
    assert (second["title"], second["text"]) == ("", "")


def test_an_error_is_an_answer(monkeypatch):
    def fail(*_):
        raise MemoryError("too much")

    monkeypatch.setattr(html, "extract_page", fail)
    assert ask(b"x", b"y")[1:] == [{"error": "MemoryError: too much"}] * 2


def test_an_extractor_that_does_not_load_says_so(monkeypatch):
    def fail(_):
        raise ImportError("no module")

    monkeypatch.setattr(html, "load", fail)
    assert ask(b"x") == [{"error": "no module"}]

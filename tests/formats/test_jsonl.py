"""JSON lines: bad ones are counted with their place, the others go on."""

import io
import json

from danlu.extract.record import Fields
from danlu.formats.jsonl import read_jsonl
from danlu.formats.raw import Damage


def read(data, limit=1000):
    return list(read_jsonl(io.BytesIO(data).read, "a.jsonl", Fields(), limit))


def test_text_id_and_byte_range():
    data = b'{"text": "one", "id": 7}\n\n{"id": null, "text": "zwei \\u00fc"}'
    first, second = read(data)
    assert (first.text, first.id, data[first.start : first.end]) == ("one", "7", data[:24])
    assert (second.text, second.id, json.loads(data[second.start :])["text"]) == ("zwei ü", None, "zwei ü")
    assert (first.line, second.line) == (1, 3)
    (part,) = read_jsonl(io.BytesIO(data[25:]).read, "a.jsonl", Fields(), 1000, start=26)
    assert part.line is None


def test_a_malformed_line_keeps_its_place_and_the_others_go_on():
    good, bad, nested, last = read(b'{"text": "a"}\n{"text": "b"\n' + b"[" * 999 + b'\n{"text": "c"}\n')
    assert (good.text, last.text) == ("a", "c")
    assert (bad.reason, bad.source, bad.line) == ("malformed_json", "a.jsonl", 2)
    assert (nested.reason, nested.line) == ("malformed_json", 3)


def test_a_missing_text_field_names_the_fields_that_there_are():
    no_field, no_text, no_object = read(b'{"content": "a", "n": 1}\n{"text": 5}\n["text"]\n')
    assert no_field.reason == no_text.reason == no_object.reason == "missing_text"
    assert no_field.line == 1
    assert "the fields are: content, n; set text_field" in no_field.detail


def test_a_line_that_is_too_long_is_counted():
    data = b'{"text": "' + b"x" * 3_000_000 + b'"}\n{"text": "b"}'
    assert read(data)[0] == Damage("too_long", "a.jsonl", 1, "longer than 1000 bytes")
    assert read(data)[1].text == "b"


def test_a_template_and_metadata():
    data = b'{"title": "T", "body": "B", "url": "u", "score": 1.5, "n": 1}\n{"title": "T"}'
    fields = Fields(template="{title}: {body}", metadata=("score",))
    raw, damage = read_jsonl(io.BytesIO(data).read, "a.jsonl", fields, 1000)
    assert raw.text == "T: B"
    assert raw.metadata == {"url": "u", "title": "T", "score": "1.5"}
    assert (damage.reason, damage.line) == ("missing_text", 2)
    assert (
        damage.describe()
        == "a.jsonl, line 2: no text in 'body'; the fields are: title; set template in its [[corpus.source]]"
    )

"""What a `[[corpus.source]]` refuses."""

import pytest
from pydantic import ValidationError

from danlu.read.settings import Source, format_of


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "jsnl"}, "'jsonl' or 'parquet'"),
        ({"encoding": "utf-99"}, "no encoding 'utf-99'"),
        ({"document": ""}, "an empty separator splits nowhere"),
        ({"domain": "a/b"}, "pattern"),
        ({"paths": []}, "at least 1"),
        ({"path": ["x"]}, "Extra inputs"),
        ({"paths": ["*.jsonl", "*.parquet"], "document": "line"}, "document has no effect on format jsonl, parquet"),
        ({"paths": ["python:docs"], "document": "line"}, "document has no effect on python:docs, only on md, txt"),
        ({"paths": ["*.md"], "text_field": "body"}, "text_field has no effect on format md, only on jsonl, parquet"),
        ({"paths": ["*.txt.gz"], "id_field": "number"}, "id_field has no effect"),
        ({"paths": ["*.parquet"], "encoding": "cp1252"}, "encoding has no effect on format parquet"),
        ({"paths": ["x/*"], "format": "parquet", "encoding": "cp1252"}, "encoding has no effect"),
        ({"paths": ["python:stdlib"], "encoding": "cp1252"}, "encoding has no effect on python:stdlib"),
        ({"paths": ["python:stdlib"], "format": "txt"}, "format has no effect on python:stdlib"),
    ],
)  # fmt: skip
def test_refuses_a_source_that_cannot_work(change, message):
    with pytest.raises(ValidationError, match=message):
        Source(**{"domain": "prose", "paths": ["*.txt"], **change})


@pytest.mark.parametrize(
    "keys",
    [
        {"paths": ["*.jsonl", "*.txt"], "document": "line", "text_field": "body", "encoding": "cp1252"},
        {"paths": ["texts/*"], "document": "line", "id_field": "number"},
        {"paths": ["*.log"], "format": "txt", "document": "line"},
        {"paths": ["python:docs", "*.JSONL.zst"], "text_field": "body"},
        {"paths": ["*.parquet"], "document": "file", "encoding": "utf-8"},
    ],
)
def test_takes_a_key_that_may_have_effect_or_has_its_default(keys):
    source = Source(domain="d", **keys)
    assert Source(**source.model_dump()) == source


@pytest.mark.parametrize(
    ("name", "found"),
    [("a.jsonl", "jsonl"), ("**/*.MD.gz", "md"), ("*.zst", None), ("*", None), ("a.parquet.bak", None)],
)
def test_the_format_that_a_name_says(name, found):
    assert format_of(name) == found

"""What a `[[corpus.source]]` refuses."""

from typing import get_args

import pytest
from pydantic import ValidationError

from danlu.formats.settings import KNOWN, format_of
from danlu.read.settings import Source


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "jsnl"}, "'jsonl', 'parquet'"),
        ({"encoding": "utf-99"}, "no encoding 'utf-99'"),
        ({"document": ""}, "an empty separator splits nowhere"),
        ({"domain": "a/b"}, "pattern"),
        ({"paths": []}, "at least 1"),
        ({"path": ["x"]}, "Extra inputs"),
        ({"paths": ["*.jsonl", "*.parquet"], "document": "line"}, "document has no effect on format jsonl, parquet"),
        ({"paths": ["python:docs"], "document": "line"}, "document has no effect on python:docs, only on docx"),
        ({"paths": ["*.md"], "text_field": "body"}, "text_field has no effect on format md, only on jsonl, parquet"),
        ({"paths": ["*.txt.gz"], "id_field": "number"}, "id_field has no effect"),
        ({"paths": ["*.parquet"], "encoding": "cp1252"}, "encoding has no effect on format parquet"),
        ({"paths": ["x/*"], "format": "parquet", "encoding": "cp1252"}, "encoding has no effect"),
        ({"paths": ["python:stdlib"], "encoding": "cp1252"}, "encoding has no effect on python:stdlib"),
        ({"paths": ["python:stdlib"], "format": "txt"}, "format has no effect on python:stdlib"),
        ({"paths": ["*.jsonl"], "template": "{a}", "text_field": "b"}, "text_field and template contradict"),
        ({"paths": ["*.jsonl"], "template": "text"}, "must name fields in braces"),
        ({"paths": ["*.jsonl"], "template": "{}"}, "must name fields in braces"),
        ({"paths": ["*.jsonl"], "template": "{text!r:>9}"}, "must name fields in braces"),
        ({"paths": ["*.jsonl"], "template": "{text"}, "a brace that is meant is written twice"),
        ({"template": "{text}"}, "template has no effect on format txt, only on docx"),
        ({"metadata_fields": ["url"]}, "metadata_fields has no effect on format txt"),
        ({"extractor": "trafilatura"}, "extractor has no effect on format txt, only on html, warc"),
        ({"paths": ["*.jsonl"], "extractor": "lxml"}, "'resiliparse' or 'trafilatura'"),
        ({"paths": ["*.html"], "encoding": "cp1252"}, "encoding has no effect on format html"),
        ({"language": "English"}, "pattern"),
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
        {
            "paths": ["*.parquet"],
            "template": "{title} {{x}}\n{text}",
            "metadata_fields": ["url"],
            "language": "zho",
        },
        {"paths": ["s3://bucket/*.warc.gz", "*.warc.wet.gz"], "extractor": "trafilatura", "language": "en"},
        {"paths": ["project"], "format": "code", "encoding": "latin-1"},
    ],
)
def test_takes_a_key_that_may_have_effect_or_has_its_default(keys):
    source = Source(domain="d", **keys)
    assert Source(**source.model_dump()) == source


@pytest.mark.parametrize(
    ("name", "found"),
    [
        *(("a.warc.wet.gz", "wet"), ("a.HTM", "html"), ("a.jsonl.bz2", "jsonl"), ("a.py", None)),
        *(("a.jsonl", "jsonl"), ("**/*.MD.gz", "md"), ("*.zst", None), ("*", None), ("a.parquet.bak", None)),
    ],
)
def test_the_format_that_a_name_says(name, found):
    assert format_of(name) == found


def test_a_source_may_name_every_format():
    assert set(get_args(Source.model_fields["format"].annotation)) == {"auto", *KNOWN}

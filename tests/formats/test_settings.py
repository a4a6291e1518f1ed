"""A name says a format, whatever its case and its compression; or none."""

import pytest

from danlu.formats.settings import (
    COMPRESSIONS,
    FORMATS,
    GUARDED,
    IN_SECTIONS,
    MARKED_UP,
    WHOLE,
    Family,
    format_of,
    formats_in,
)


@pytest.mark.parametrize("ending", FORMATS)
def test_every_ending_also_compressed(ending):
    for name in (f"a{ending}", f"b.c{ending.upper()}", *(f"a{ending}{packed}" for packed in COMPRESSIONS)):
        assert format_of(name) == FORMATS[ending]
    assert format_of(f"folder/*{ending}.GZ") == FORMATS[ending]


@pytest.mark.parametrize("name", ["", "a", "a.gz", "a.py", "a.tar.gz", "a.txt.gz.gz", ".txt", "txt"])
def test_other_names_say_nothing(name):
    assert format_of(name) is None


def test_the_lists_of_formats_follow_from_one_table():
    assert formats_in(Family.PLAIN) == {"txt", "md"}
    assert formats_in(Family.RECORDS, Family.CODE) == {"jsonl", "parquet", "code"}
    assert formats_in(Family.BOOKS, Family.DUMPS) == GUARDED
    assert {"epub", "html", "latex"} < WHOLE
    assert not WHOLE & formats_in(Family.PLAIN, Family.RECORDS, Family.DUMPS)
    assert {"html", "warc", "epub", "pdf", "docx"} == MARKED_UP
    assert {"md", "wikipedia"} | formats_in(Family.BOOKS) == IN_SECTIONS

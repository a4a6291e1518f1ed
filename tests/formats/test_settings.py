"""A name says a format, whatever its case and its compression; or none."""

import pytest

from danlu.formats.settings import COMPRESSIONS, FORMATS, format_of


@pytest.mark.parametrize("ending", FORMATS)
def test_every_ending_also_compressed(ending):
    for name in (f"a{ending}", f"b.c{ending.upper()}", *(f"a{ending}{packed}" for packed in COMPRESSIONS)):
        assert format_of(name) == FORMATS[ending]
    assert format_of(f"folder/*{ending}.GZ") == FORMATS[ending]


@pytest.mark.parametrize("name", ["", "a", "a.gz", "a.py", "a.tar.gz", "a.txt.gz.gz", ".txt", "txt"])
def test_other_names_say_nothing(name):
    assert format_of(name) is None

"""Markdown is cut at its headings, and nowhere else."""

import io

from danlu.extract.section import Section
from danlu.formats.markdown import read_markdown, sections_of

TEXT = """Before all.

# Guide #

Welcome.

```sh
# no heading
```

### Deep

Three.

## Two ##
~~~~
# none
~~~
# still none
~~~~
#hashtag
    # code
"""


def test_headings_open_sections_under_those_above():
    found = sections_of(TEXT)
    assert [section.headings for section in found.sections] == [
        (),
        ("Guide",),
        ("Guide", "Deep"),
        ("Guide", "Two"),
    ]
    assert found.sections[1].text == "Welcome.\n\n```sh\n# no heading\n```"
    assert found.sections[3].text == "~~~~\n# none\n~~~\n# still none\n~~~~\n#hashtag\n    # code"
    assert found.metadata == {"title": "Guide"}


def test_a_file_is_read_section_by_section():
    data = TEXT.encode() + "\n# 破损\n\n丹炉".encode() * 50 + b" \xff.\n"
    raws = list(read_markdown(io.BytesIO(data).read, "a.md", 9000))
    assert [raw.text.split("\n")[0] for raw in raws[1:]] == [
        "Guide",
        "Guide > Deep",
        "Guide > Two",
        *["破损"] * 50,
    ]
    assert {(raw.source, raw.group, raw.start, raw.end) for raw in raws} == {("a.md", "a.md", 0, len(data))}
    assert [raw.replaced for raw in raws] == [1, *[0] * 53]
    assert [raw.reason for raw in read_markdown(io.BytesIO(data).read, "a.md", 10)] == ["too_long"]


def test_odd_texts():
    assert sections_of("").sections == ()
    assert sections_of("#\n\n##\n").sections == ()
    assert sections_of("# H\r\n\r\na\r\nb\r\n").sections == (Section(("H",), "a\r\nb"),)
    for long in ("x #" * 50_000, " " * 50_000 + "x", "\t" * 50_000):
        assert len(sections_of(f"# {long}\n\ntext").sections) == 1
    assert sections_of("## C# ##\nx").sections[0].headings == ("C#",)
    assert sections_of("## C#\nx").sections[0].headings == ("C#",)
    assert sections_of("```\n# open").sections[0].text == "```\n# open"


def test_text_stays_as_it_is_written():
    text = "a\u2028# no heading\x85b\x0cc\r\nd\x1c\u2029e"
    assert sections_of(text).sections == (Section((), text),)


def test_a_fence_with_words_behind_it_closes_nothing():
    text = "```sh\n```python\n# no heading\n``` \t"
    assert [section.headings for section in sections_of(f"{text}\n# H\nx").sections] == [(), ("H",)]
    assert sections_of(text).sections[0].text == text.rstrip("\n")

"""Records to texts, ids and metadata."""

import pytest

from danlu.extract.record import Fields, NoTextError, id_of, metadata_of, template_fields, text_of


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{title}\n\n{text}", "Title\n\nbody {x}"),
        ("{text}", "body {x}"),
        ("{{{text}}}", "{body {x}}"),
        ("{n}: {null}{title}{title}", "7: TitleTitle"),
        ("{0title} {a.b}", "odd names are names"),
    ],
)
def test_a_template_joins_fields(template, text):
    record = {
        "title": "Title",
        "text": "body {x}",
        "n": 7,
        "null": None,
        "0title": "odd",
        "a.b": "names are names",
    }
    assert text_of(record, Fields(template=template)) == text


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"text": "a"}, "no text in 'title'; the fields are: text; set template"),
        ({"title": ["a"], "text": "b"}, "no text in 'title'"),
        ({"title": True, "text": "b"}, "no text in 'title'"),
        ({"title": None, "text": ""}, r"\(title, text\) are all empty"),
        ([], "the line is a list, not an object"),
    ],
)
def test_why_a_template_gives_none(record, words):
    with pytest.raises(NoTextError, match=words):
        text_of(record, Fields(template="{title} {text}"))


@pytest.mark.parametrize("value", [5, None, ["a"], True])
def test_a_text_field_holds_text(value):
    with pytest.raises(NoTextError, match="no text in 'text'; the fields are: text, n; set text_field"):
        text_of({"text": value, "n": 1}, Fields())


def test_fields_of_a_template():
    assert template_fields("{b} {{x}} {a}{b}") == ["b", "a"]


def test_ids_are_text_or_whole_numbers():
    assert [id_of({"id": value}, Fields()) for value in ("a", 5, None, 1.5, [])] == [
        "a",
        "5",
        None,
        None,
        None,
    ]
    assert id_of({}, Fields()) is None
    assert [id_of({"id": value}, Fields()) for value in ("", " ", True, 0)] == [None, None, None, "0"]
    assert id_of({"number": 1}, Fields(id="number")) == "1"


def test_metadata_keeps_what_was_asked_for_and_what_is_always_kept():
    record = {"url": "u", "title": "", "language": None, "score": 0.5, "tags": ["ä"], "text": "t", "other": 1}
    fields = Fields(metadata=("score", "tags", "missing"))
    assert metadata_of(record, fields) == {"url": "u", "title": "", "score": "0.5", "tags": '["ä"]'}


def test_the_text_is_not_kept_twice():
    assert metadata_of({"title": "text"}, Fields(text="title")) == {}
    assert metadata_of({"title": "part"}, Fields(template="{title}")) == {"title": "part"}

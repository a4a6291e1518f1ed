"""Questions with their answers out of Posts.xml."""

import html
import io
import random
import sqlite3

import pytest

from danlu.dumps import stackexchange
from danlu.dumps.found import Article, Broken
from danlu.dumps.stackexchange import read_stackexchange
from danlu.dumps.threads import extract
from danlu.errors import DanluError, InputError

NAME = "dumps/cooking.stackexchange.com/Posts.xml"


def row(number, kind=1, **more):
    said = {"Id": number, "PostTypeId": kind, "Score": 0, "Body": f"<p>body {number}</p>", **more}
    attributes = " ".join(f'{key}="{html.escape(str(value))}"' for key, value in said.items())
    return f"  <row {attributes} />\n".replace("~", "&#xA;")


def answer(number, question, score=0, **more):
    return row(number, 2, ParentId=question, Score=score, **more)


def read(*rows, limit=10_000, name=NAME, tail="</posts>"):
    data = ('\ufeff<?xml version="1.0" encoding="utf-8"?>\n<posts>\n' + "".join(rows) + tail).encode()
    return list(read_stackexchange(io.BytesIO(data).read, name, limit))


def test_a_question_has_its_answers_accepted_first_then_by_score():
    rows = [
        row(5, Title="How & why?", Tags="<c#><a-b>", AcceptedAnswerId=9, Score=3, CreationDate="2010-01-02",
            ContentLicense="CC BY-SA 4.0", Body="<p>Q</p><pre><code>if x:~    y~</code></pre>"),
        answer(7, 5, 10), answer(8, 5, -2), answer(9, 5, 1), answer(10, 5, 10),
    ]  # fmt: skip
    (found,) = read(*rows)
    assert found.id == "5"
    assert found.metadata == {
        "title": "How & why?",
        "tags": "c#, a-b",
        "score": "3",
        "answers": "4",
        "accepted": "yes",
        "date": "2010-01-02",
        "license": "CC BY-SA 4.0",
        "site": "cooking.stackexchange.com",
        "url": "https://cooking.stackexchange.com/questions/5",
    }
    texts = [section.text for section in extract(found.markup).sections]
    assert texts == ["Q\n\nif x:\n    y", "body 9", "body 7", "body 10", "body 8"]


def test_threads_come_by_number_wherever_their_posts_lie():
    rows = [row(number, Title=f"t{number}") for number in range(1, 40)]
    rows += [answer(100 + number, 1 + number % 39, number * 7 % 11) for number in range(200)]
    expected = read(*rows)
    random.Random(5).shuffle(rows)
    found = read(*rows)
    assert [each.id for each in found] == [str(number) for number in range(1, 40)]
    assert [(each.markup, each.metadata) for each in found] == [
        (each.markup, each.metadata) for each in expected
    ]
    assert sum(int(each.metadata["answers"]) for each in found) == 200


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("no_question", answer(3, 99) + answer(4, 99)),
        ("not_a_post", row(3, 5)),
        ("not_a_post", '<row Id="3"/>'),
        ("malformed", row("x")),
        ("malformed", row("9" * 30)),
        ("malformed", row(3, 2)),
        ("malformed", '<row Id="3" PostTypeId="1" Body="<p>"/>'),
        ("too_long", row(3, Body="x" * 9000) + answer(4, 3, Body="x" * 9000)),
        ("too_long", row(3, Body="x" * 20_000)),
        ("repeated", row(2)),
        ("not_posts", "<badge/>"),
    ],
)
def test_what_is_no_question_is_counted(reason, text):
    found = read(row(1), row(2), text)
    assert [each.id for each in found if isinstance(each, Article)] == ["1", "2"]
    assert [each.reason for each in found if isinstance(each, Broken)] == [reason]


def test_a_file_that_ends_early_gives_the_threads_of_what_came():
    found = read(row(1), answer(2, 1), row(3), tail='<row Id="4" Po')
    assert [getattr(each, "reason", "") or each.id for each in found] == ["truncated", "1", "3"]
    assert found[1].metadata["answers"] == "1"


@pytest.mark.parametrize(
    ("name", "site"),
    [
        ("a/stackoverflow.com-Posts/Posts.xml.gz", "stackoverflow.com"),
        ("a/Cooking.StackExchange.com.Posts.xml", "cooking.stackexchange.com"),
        ("/data/ru.stackoverflow.com/Posts.xml", "ru.stackoverflow.com"),
        ("mathoverflow.net/Posts.xml", "mathoverflow.net"),
        ("a/Posts.xml", None),
        ("", None),
    ],
)
def test_the_site_is_what_the_path_names(name, site):
    (found,) = read(row(1, Tags="|a|b|"), name=name)
    assert found.metadata.get("site") == site
    assert found.site == (site or "")
    assert ("url" in found.metadata) == (site is not None)
    assert found.metadata["tags"] == "a, b"


def test_other_files_of_a_dump_are_said_once():
    data = b"<comments><row Id='1'/><row Id='2'/></comments>"
    (found,) = read_stackexchange(io.BytesIO(data).read, NAME, 1000)
    assert found.reason == "not_posts"
    with pytest.raises(InputError, match="7z"):
        list(read_stackexchange(io.BytesIO(b"7z\xbc\xaf\x27\x1c123").read, "a.7z", 100))


def test_a_full_disk_is_an_error_that_says_what_to_do(monkeypatch):
    def full(*_, **__):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(stackexchange, "_lay_down", full)
    with pytest.raises(DanluError, match="TMPDIR"):
        read(row(1))


def test_nothing_stays_behind(monkeypatch, tmp_path):
    monkeypatch.setattr(stackexchange.tempfile, "tempdir", str(tmp_path))
    stream = read_stackexchange(
        io.BytesIO(("<posts>" + row(1) + row(2) + "</posts>").encode()).read, NAME, 1000
    )
    next(stream)
    assert len(list(tmp_path.iterdir())) == 1
    stream.close()
    assert not list(tmp_path.iterdir())


def test_a_dump_that_stands_there_twice_gives_each_answer_once():
    body = "x" * 300
    rows = [row(1, Body=body), answer(2, 1, Body=body), answer(3, 1, Body=body), row(4)]
    # What stands there twice does not make a thread too long.
    found = read(*rows, *rows, limit=1000)
    articles = [each for each in found if isinstance(each, Article)]
    assert [(each.markup, each.metadata) for each in articles] == [
        (each.markup, each.metadata) for each in read(*rows)
    ]
    said = [each.detail for each in found if isinstance(each, Broken) and each.reason == "repeated"]
    assert said == [f"{what} is there twice" for what in ("question 1", "answer 2", "answer 3", "question 4")]

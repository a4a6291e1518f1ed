"""Dumps become documents with the dump's own numbers; what is none is a damage with its bytes."""

from __future__ import annotations

import io

from danlu.formats.books import open_books
from danlu.formats.dumps import read_dump
from danlu.formats.raw import Damage, Raw
from danlu.formats.sections import Joined

WIKI = """<mediawiki xml:lang="en"><siteinfo><base>https://en.example.org/wiki/Main</base></siteinfo>
<page><title>Cat</title><ns>0</ns><id>7</id><revision><id>1</id><text>A '''cat''' is a [[pet]].

== Food ==
It eats.</text></revision></page>
<page><title>Kitten</title><ns>0</ns><id>8</id><redirect title="Cat"/><revision><text>#REDIRECT</text></revision></page>
</mediawiki>"""
POSTS = """<posts>
<row Id="1" PostTypeId="1" AcceptedAnswerId="3" Score="4" Title="Why?" Body="&lt;p&gt;Tell me.&lt;/p&gt;"/>
<row Id="2" PostTypeId="2" ParentId="1" Score="9" Body="&lt;p&gt;High.&lt;/p&gt;"/>
<row Id="3" PostTypeId="2" ParentId="1" Score="1" Body="&lt;p&gt;Accepted.&lt;/p&gt;"/>
</posts>"""
WHOLE = Joined("file", "", 10_000)


def read(kind: str, text: str, joined: Joined = WHOLE, name: str = "dump.xml") -> list[Raw | Damage]:
    with open_books(kind) as extractor:
        return list(read_dump(io.BytesIO(text.encode()).read, name, kind, extractor, joined))


def test_articles_of_a_wiki() -> None:
    raw, damage = read("wikipedia", WIKI)
    assert isinstance(raw, Raw)
    assert raw.text == "A cat is a pet.\n\nFood\n\nIt eats."
    assert (raw.id, raw.group, raw.metadata["title"]) == ("en.example.org#7", "en.example.org#7", "Cat")
    assert WIKI.encode()[raw.start : raw.end].startswith(b"<page><title>Cat")
    assert isinstance(damage, Damage)
    assert (damage.reason, damage.detail.endswith(": Kitten")) == ("redirect", True)


def test_sections_of_an_article_are_documents_of_one_group() -> None:
    raws = read("wikipedia", WIKI, Joined("section", "", 10_000))[:-1]
    assert [(raw.id, raw.group) for raw in raws] == [
        ("en.example.org#7#0", "en.example.org#7"),
        ("en.example.org#7#1", "en.example.org#7"),
    ]
    assert raws[1].text == "Cat > Food\n\nIt eats."


def test_a_question_with_its_ranked_answers() -> None:
    (raw,) = read("stackexchange", POSTS, Joined("file", "{title}\n\n{text}", 10_000))
    assert isinstance(raw, Raw)
    assert raw.text.startswith("Why?\n\n")
    assert raw.text.index("Tell me.") < raw.text.index("Accepted.") < raw.text.index("High.")
    assert raw.metadata["score"] == "4"


def test_a_broken_dump_says_where() -> None:
    damages = [raw for raw in read("wikipedia", WIKI[:-60]) if isinstance(raw, Damage)]
    assert damages
    assert all(damage.detail.startswith("bytes ") for damage in damages)


def test_equal_numbers_of_two_dumps_are_two_ids() -> None:
    german = WIKI.replace("https://en.", "https://de.")
    wikis = [read("wikipedia", text)[0] for text in (WIKI, german)]
    names = (
        "a/cooking.stackexchange.com/Posts.xml",
        "a/law.stackexchange.com.Posts.xml",
        "b/Posts.xml",
        "c/Posts.xml",
    )
    sites = [read("stackexchange", POSTS, name=name)[0] for name in names]
    assert [raw.id for raw in wikis + sites if isinstance(raw, Raw)] == [
        "en.example.org#7",
        "de.example.org#7",
        "cooking.stackexchange.com#1",
        "law.stackexchange.com#1",
        "b/Posts.xml#1",
        "c/Posts.xml#1",
    ]

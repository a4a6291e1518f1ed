"""What is extracted becomes one document, or one a section; templates, limits and damages hold."""

from danlu.extract.section import Extracted, Section
from danlu.formats.raw import Damage, Raw
from danlu.formats.sections import Joined, Place, raws_of, titled

BOOK = Extracted(
    (Section(("Book",), ""), Section(("Book", "One"), "First."), Section(("Book", "Two"), "Second.")),
    {"title": "Book", "author": ""},
    (("no_text_layer", "page 3"),),
)
PLACE = Place("a.epub", 5, 90, "a.epub", "7")


def raws(document, template="", limit=1000, found=BOOK, place=PLACE):
    return list(raws_of(found, place, Joined(document, template, limit)))


def test_one_document():
    damage, raw = raws("file")
    assert damage == Damage("no_text_layer", "a.epub", detail="7: page 3")
    text = "Book\n\nOne\n\nFirst.\n\nTwo\n\nSecond."
    assert raw == Raw(text, "a.epub", 5, 90, "a.epub", "7", metadata={"title": "Book"})


def test_a_document_a_section_keeps_its_heading_path():
    _, one, two = raws("section")
    assert (one.text, one.id, one.group) == ("Book > One\n\nFirst.", "7#1", "a.epub")
    assert two.metadata == {"title": "Book", "headings": "Book > Two"}
    nameless = raws("section", place=Place("a.epub", 0, 9, "a.epub"))
    assert [raw.id for raw in nameless[1:]] == [None, None]


def test_a_template_joins_what_there_is():
    _, raw = raws("section", "{title}|{author}|{text}")[:2]
    assert raw.text == "Book||Book > One\n\nFirst."


def test_what_has_no_text_or_too_much_is_counted():
    assert raws("file", found=Extracted((Section((), " "),)))[0].reason == "no_text"
    assert [damage.reason for damage in raws("file", limit=10)] == ["no_text_layer", "too_long"]
    chinese = Extracted((Section((), "丹炉丹炉"),))
    assert raws("file", limit=11, found=chinese)[0].reason == "too_long"
    assert raws("file", limit=12, found=chinese)[0].text == "丹炉丹炉"


def test_a_source_without_any_section_is_counted():
    for found in (Extracted(()), Extracted((Section(("Book",), ""),))):
        assert raws("section", found=found) == [Damage("no_text", "a.epub", detail="7")]


def test_what_was_replaced_is_counted_once():
    found = Extracted((Section((), "a\ufffd"), Section((), "b")), replaced=1)
    assert [raw.replaced for raw in raws("section", found=found)] == [1, 0]
    assert [raw.replaced for raw in raws("file", found=found)] == [1]


def test_a_title_stands_in_front_of_every_path_once():
    sections = (Section((), "Lead."), Section(("THE  BOOK", "One"), "First."), Section(("Two",), "Second."))
    found = Extracted(sections, {"title": "The Book"})
    wanted = ["The Book\n\nLead.", "THE  BOOK > One\n\nFirst.", "The Book > Two\n\nSecond."]
    joined = Joined("section", "", 1000)
    raws = list(raws_of(titled(found, joined), PLACE, joined))
    assert [raw.text for raw in raws] == wanted
    assert [raw.metadata["headings"] for raw in raws] == [text.partition("\n")[0] for text in wanted]
    for same in (Joined("file", "", 9), Joined("section", "{title}\n{text}", 9)):
        assert titled(found, same) == found
    assert titled(BOOK, joined) == BOOK
    nameless = Extracted(sections)
    assert titled(nameless, joined) == nameless

"""Word documents: made by python-docx, or by hand where that cannot make them."""

import io

import docx
import pytest

from danlu.extract.section import Section, join_sections
from danlu.publications import zip_guard
from danlu.publications.docx import extract
from small_publications import make_zip

RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)
WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def by_hand(body, **parts):
    document = f"<w:document {WORD}><w:body>{body}</w:body></w:document>"
    notes = {f"word/{name}.xml": f"<w:{name} {WORD}>{xml}</w:{name}>" for name, xml in parts.items()}
    return make_zip({"_rels/.rels": RELATIONS, "word/document.xml": document} | notes)


def text_of(body, **parts):
    return join_sections(extract(by_hand(body, **parts)).sections)


def run(text):
    return f"<w:r><w:t>{text}</w:t></w:r>"


def paragraph(*runs):
    return f"<w:p>{''.join(runs)}</w:p>"


def field(code, result):
    parts = ['<w:fldChar w:fldCharType="begin"/>', f"<w:instrText>{code}</w:instrText>"]
    parts += [
        '<w:fldChar w:fldCharType="separate"/>',
        f"<w:t>{result}</w:t>",
        '<w:fldChar w:fldCharType="end"/>',
    ]
    return "".join(f"<w:r>{part}</w:r>" for part in parts)


def test_a_document_of_words_own_styles():
    document = docx.Document()
    document.core_properties.author = "Ann"
    document.add_heading("The title", 0)
    document.add_heading("第一章", 1)
    document.add_paragraph("Hello\tworld\nagain \U0001f600.")
    for style in ("List Bullet", "List Bullet 2", "List Number", "List Number"):
        document.add_paragraph(style, style=style)
    document.add_heading("Below", 2)
    table = document.add_table(2, 2)
    for place, text in enumerate(("a", "b\nc", "", "d")):
        table.cell(place // 2, place % 2).text = text
    document.add_page_break()
    document.sections[0].header.paragraphs[0].text = "a running head"
    document.sections[0].footer.paragraphs[0].text = "a foot"
    made = io.BytesIO()
    document.save(made)
    found = extract(made.getvalue())
    assert found.sections == (
        Section(
            ("The title", "第一章"),
            "Hello\tworld\nagain \U0001f600.\n\n- List Bullet\n- List Bullet 2\n1. List Number\n2. List Number",
        ),
        Section(("The title", "第一章", "Below"), "a\tb c\n\td"),
    )
    assert (found.metadata["title"], found.metadata["author"]) == ("The title", "Ann")
    assert found.damages == ()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (paragraph(run("a"), f"<w:ins>{run('b')}</w:ins>", f"<w:del>{run('c')}</w:del>"), "ab"),
        (paragraph(f"<w:moveFrom>{run('a')}</w:moveFrom>", f"<w:moveTo>{run('b')}</w:moveTo>"), "b"),
        (paragraph("<w:r><w:rPr><w:vanish/></w:rPr><w:t>a</w:t></w:r>", run("b")), "b"),
        (paragraph('<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>a</w:t></w:r>'), "a"),
        (paragraph(f"<w:hyperlink>{run('a')}</w:hyperlink>"), "a"),
        (
            paragraph("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:noBreakHyphen/><w:softHyphen/><w:br/></w:r>"),
            "a\tb-",
        ),
        (paragraph('<w:r><w:t>a</w:t><w:br w:type="page"/><w:br/><w:t>b</w:t></w:r>'), "a\nb"),
        (paragraph(run("p. "), field(" PAGE ", "7"), run(" of "), field("NUMPAGES", "9")), "p.  of"),
        (paragraph(run("see "), field("REF x", "Table 1")), "see Table 1"),
        (paragraph(field("TOC \\o", "Contents 1")) + paragraph(run("a")), "a"),
        (paragraph(f'<w:fldSimple w:instr="PAGE">{run("7")}</w:fldSimple>', run("a")), "a"),
        (f"<w:sdt><w:sdtContent>{paragraph(run('a'))}</w:sdtContent></w:sdt>", "a"),
        (
            '<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>'
            f"<w:sdtContent>{paragraph(run('a'))}</w:sdtContent></w:sdt>",
            "",
        ),
        (f"<w:tbl><w:tr><w:tc>{paragraph(run('a'))}{paragraph(run('b'))}</w:tc></w:tr></w:tbl>", "a\n\nb"),
        (
            "<w:tbl><w:tr><w:tc><w:tbl><w:tr><w:tc><w:p/></w:tc>"
            f"<w:tc>{paragraph(run('a'))}</w:tc></w:tr></w:tbl></w:tc><w:tc>{paragraph(run('b'))}</w:tc></w:tr></w:tbl>",
            "a\tb",
        ),
        ("<w:p/><w:p><w:r/></w:p>" + paragraph(run("   ")), ""),
        ("", ""),
    ],
)
def test_text_as_it_stands_after_all_changes(body, text):
    assert text_of(body) == text


def test_two_tables_stand_apart():
    cell = f"<w:tc>{paragraph(run('a'))}</w:tc>"
    table = f"<w:tbl>{f'<w:tr>{cell}{cell}</w:tr>' * 2}</w:tbl>"
    assert text_of(table + "<w:p/>" + table) == "a\ta\na\ta\n\na\ta\na\ta"


def test_a_field_goes_on_over_paragraphs():
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>TOC</w:instrText></w:r>'
    begin += '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
    end = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    assert extract(by_hand(paragraph(begin, run("a")))).damages == (
        ("field_without_end", "1 in the document"),
    )
    assert text_of(paragraph(begin, run("One 1")) + paragraph(run("Two 2"), end) + paragraph(run("a"))) == "a"


def test_notes_follow_their_paragraph_once():
    reference = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    notes = '<w:footnote w:id="0" w:type="separator"><w:p/></w:footnote>'
    notes += f'<w:footnote w:id="2">{paragraph(run("note"), reference)}</w:footnote>'
    body = paragraph(run("a"), reference, run(" b")) + paragraph(run("c"), reference)
    assert text_of(body, footnotes=notes) == "a[1] b\n\n[1] note\n\nc"


def test_text_boxes_are_read_once():
    box = f"<w:txbxContent>{paragraph(run('boxed'))}</w:txbxContent>"
    alternative = (
        f"<w:r><AlternateContent><Choice><w:drawing>{box}</w:drawing></Choice>"
        f"<Fallback><w:pict>{box}</w:pict></Fallback></AlternateContent></w:r>"
    )
    assert text_of(paragraph(run("a"), alternative)) == "a\n\nboxed"
    assert text_of(paragraph(run("a"), f"<w:r><w:pict>{box}</w:pict></w:r>")) == "a\n\nboxed"


def test_what_is_not_kept_is_counted():
    formula = "<oMath><sSup><e><r><t>x</t></r></e><sup><r><t>2</t></r></sup></sSup></oMath>"
    found = extract(by_hand(paragraph(run("a "), formula) + "<w:altChunk/>"))
    assert join_sections(found.sections) == "a x2"
    assert found.damages == (
        ("formula_flattened", "1 in the document"),
        ("embedded_part", "1 in the document"),
    )


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no whole ZIP"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "encrypted with a password"),
        (make_zip({"a": "b"}), "has no _rels/.rels"),
        (make_zip({"_rels/.rels": "<r/>"}), "names no document"),
        (make_zip({"_rels/.rels": RELATIONS}), r"has no word/document\.xml"),
        (make_zip({"_rels/.rels": RELATIONS, "word/document.xml": "<x/>"}), "has no body"),
        (make_zip({"_rels/.rels": RELATIONS, "word/document.xml": "<x><body>"}), "no well-formed XML"),
        (
            make_zip(
                {"_rels/.rels": RELATIONS, "word/document.xml": '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'}
            ),
            "declares an entity",
        ),
        (by_hand("<w:tbl>" * 600), "nested more than"),
        (by_hand(paragraph(run(" " * (zip_guard.BOMB_BYTES + 1)))), "is a bomb"),
    ],
    ids=range(10),
)
def test_what_is_no_document_is_refused(data, why):
    with pytest.raises(ValueError, match=why):
        extract(data)


def test_deep_tables_are_read():
    inner = paragraph(run("a"))
    for _ in range(150):
        inner = f"<w:tbl><w:tr><w:tc>{inner}</w:tc></w:tr></w:tbl>"
    assert text_of(inner) == "a"


def test_nested_text_boxes_are_read_once_each():
    box = "<w:p/>"
    for number in range(24):
        box = f"<w:txbxContent>{paragraph(run(f'box {number}'), f'<w:r><w:pict>{box}</w:pict></w:r>')}</w:txbxContent>"
    found = text_of(paragraph(f"<w:r><w:pict>{box}</w:pict></w:r>"))
    assert found.split("\n\n") == [f"box {number}" for number in reversed(range(24))]

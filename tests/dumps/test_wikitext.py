"""Wikitext to sections."""

import pytest

from danlu.dumps.wikitext import convert, extract, pack
from danlu.extract.section import Section

ARTICLE = """{{Infobox mineral | name = Salt | formula = [[NaCl]] }}
'''Salt''' ({{IPAc-en|s|ɔː|l|t}}; {{lang|la|sal}}) is a [[mineral]] composed of [[sodium chloride|NaCl]].<ref>A
book.</ref> It weighs {{convert|5|kg|lb}}.<!-- hidden --> [[File:Salt.jpg|thumb|Some ''salt'' of [[Peru]]]]

== History ==
{{Main|History of salt}}
Old.

=== Early ===
It began<ref name="a" /> early.

{| class="wikitable"
! A !! B
|-
| 1 || 2
|}

==Uses==
* Food
** Meat
# First
# Second

== See also ==
* [[Pepper]]
=== Deeper ===
* [[Cumin]]

==References==
{{reflist}}

== Chemistry ==
NaCl is <math>\\mathrm{Na}
+ Cl</math>.

[[Category:Salts| ]]
[[Category:Minerals]]
[[de:Salz]]
"""


def texts(wikitext, language="en"):
    return "\n\n".join(section.text for section in convert(wikitext, language, (), ()).sections)


def test_an_article_becomes_sections_under_their_headings():
    found = convert(ARTICLE, "en", (), ())
    assert found.sections == (
        Section((), "Salt (sal) is a mineral composed of NaCl. It weighs 5 kg."),
        Section(("History",), "Old."),
        Section(("History", "Early"), "It began early."),
        Section(("Uses",), "- Food\n  - Meat\n1. First\n2. Second"),
        Section(("Chemistry",), "NaCl is $\\mathrm{Na} + Cl$."),
    )
    assert found.metadata == {"categories": "Salts; Minerals"}


def test_a_packed_article_gives_the_same():
    assert extract(pack(ARTICLE, "en")) == convert(ARTICLE, "en", (), ())
    assert extract(pack("[[Plik:a.png]]x \ud800[[Kat:B]]", "pl", ["Plik"], ["Kat"])).sections[0].text == "x ?"
    for wrong in (b"", b"[", b"\xff"):
        with pytest.raises(ValueError, match=r".+"):
            extract(wrong)


@pytest.mark.parametrize("language", ["de", "zh-Hans", "ja", "xx", ""])
def test_sections_of_links_are_left_out_by_language(language):
    heading = {"de": "Einzelnachweise", "zh-Hans": "参考文献", "ja": "脚注"}.get(language, "Literatura")
    found = convert(f"a\n== {heading} ==\nb\n== See also ==\nc\n== Leben ==\nd", language, (), ())
    kept = ["a", "d"] if language in ("de", "zh-Hans", "ja") else ["a", "b", "d"]
    assert [section.text for section in found.sections] == kept


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("-{zh-hant:電腦; zh-hans:电脑}-是", "电脑是"),
        ("-{zh-tw:電腦; zh-hk:計算機}-是", "電腦是"),
        ("-{H|zh-hans:甲;zh-hant:乙}-词", "词"),
        ("-{A|zh-hans:甲;zh-hant:乙}-词", "甲词"),
        ("-{余}-姓", "余姓"),
        ("-{{lang|en|word}}-", "-word-"),
        ("'''盐'''（{{lang-en|salt}}，{{IPA-x|y}}），又称食盐。", "盐（salt），又称食盐。"),
        ("苏轼（{{bd|1037年}}）是[[宋朝|宋]]人。", "苏轼是宋人。"),
    ],
)
def test_chinese(wikitext, text):
    assert texts(wikitext, "zh") == text


def test_spellings_for_regions_are_only_read_where_there_are_any():
    assert texts("x -{a:b}- y", "en") == "x -{a:b}- y"


@pytest.mark.parametrize(
    "wikitext",
    ["", " ", "\n\n", "x", "\r\n", "\x00\x01\x02\x03", "\x015\x01", "&#1;5&#1;", "<nowiki>&#1;</nowiki>",
     "&#0;*", "😀", "\ud800", "==", "====", "== ==",
     "{{", "}}", "[[", "]]", "{|", "|}", "[[File:", "<ref", "<ref>", "</ref>", "<math>", "<pre>",
      "{{{", "{{{1|a}}}", "''", "'''''",
     "{{" * 200, "[[" * 200, "{{a|" * 100 + "}}" * 100, "<div>" * 200, "*" * 500, ":" * 500 + "x", "== a ==\n" * 100,
     "&#x110000;", "&#xD800;", "&bogus;", "http://", "[http://]", "[[:]]", "[[|]]",
     "{{|}}", "{{lang}}", "{{convert}}", "-{" * 500],
)  # fmt: skip
def test_whatever_is_written_gives_text_without_marks(wikitext):
    for language in ("en", "zh"):
        found = texts(wikitext, language)
        assert not any(mark in found for mark in "\x00\x01\x02\x03")

"""What links, templates and tags of wikitext say."""

import mwparserfromhell
import pytest

from danlu.dumps.wiki_lines import to_paragraphs
from danlu.dumps.wiki_nodes import Reader, tables


def read(wikitext):
    reader = Reader(frozenset({"file"}), frozenset({"category"}))
    marked = reader.read(mwparserfromhell.parse(wikitext, skip_style_tags=False))
    return to_paragraphs(marked, reader.kept), reader


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("a [[B]]s, [[C|d]], [[:Category:E]], [[F#G]]", "a Bs, d, Category:E, F#G"),
        ("[[wikt:word|word]] [[Re:Zero]] [[de:Wort]]x", "word Re:Zero x"),
        ("a[[File:x.jpg|thumb|A [[b]] ''c'']]d", "ad"),
        ("[http://a.org the ''text''] [http://b.org] http://c.org", "the text http://c.org"),
        ("<b>a</b> '''b''' ''c'' <span style='x'>d</span>", "a b c d"),
        ("10<sup>-6</sup> m<sup>2</sup> H<sub>2</sub>O 1<sup>st</sup>", "10⁻⁶ m² H₂O 1st"),
        ("a<br>b<br />c", "a\nb\nc"),
        ("a<nowiki>[[b]] ''c'' &amp;</nowiki>", "a[[b]] ''c'' &"),
        ("a &lt;b&gt; &nbsp; &eacute;", "a <b> é"),
        ("<code>f(  x )</code> and <kbd>k  &lt; l</kbd>", "f(  x ) and k  < l"),
        ("<math>x^{2}\n+ 1</math>; <ce>H2O</ce>", "$x^{2} + 1$; $\\ce{H2O}$"),
        ("<gallery>a.jpg|b</gallery><timeline>c</timeline>d<ref name=x/><ref>e</ref>", "d"),
        (
            "<syntaxhighlight lang=python>\ndef f():\n    return [[1]]\n</syntaxhighlight>",
            "def f():\n    return [[1]]",
        ),
        ("a<syntaxhighlight inline lang=c> x=1 </syntaxhighlight>b", "ax=1b"),
        ("<pre>\n  a &lt; b\n    c</pre>", "  a < b\n    c"),
        ("<poem>a\nb</poem>", "a\nb"),
        ("<blockquote>a</blockquote>b", "a\n\nb"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("; term : meaning", "term: meaning"),
        ("<ruby>漢字<rt>かんじ</rt></ruby>", "漢字"),
        ("a\n----\nb", "a\n\nb"),
        ("{{{x|y}}} {{{z}}}", "y"),
    ],
)
def test_nodes(wikitext, text):
    assert read(wikitext)[0] == text


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("{{lang|de|'''Wort'''}}", "Wort"),
        ("{{Lang-fr|mot}} {{lang_x|y}}", "mot"),
        (
            "{{convert|5|km|mi}}, {{Convert|5|to|6.5|ft|m|abbr=on}}, {{cvt|3|x|4|m}}",
            "5 km, 5 to 6.5 ft, 3 x 4 m",
        ),
        ("{{frac|2}} {{frac|1|2}} {{frac|1|1|2}}", "1/2 1/2 1 1/2"),
        ("{{as of|2014|1|lc=y}}; {{As of|2015}}", "as of 2014; As of 2015"),
        ("{{formatnum:12345}}", "12345"),
        ("a{{snd}}b {{nowrap|1=x = y}}", "a – b x = y"),
        ("{{quote|text=To be.|author=X}}after", "To be.\n\nafter"),
        ("{{circa|1900}} {{HMS|Ajax|22}} {{val|3.5}}", "c. 1900 HMS Ajax 3.5"),
        ("{{nihongo|salt|塩|shio}}", "salt (塩, shio)"),
        ("{{lang|de}}{{frac}}{{unknown|text}}{{#if:x|y|z}}{{Main|A}}end", "end"),
        ("{{small|{{lang|de|{{nowrap|deep}}}}}}", "deep"),
    ],
)
def test_templates(wikitext, text):
    assert read(wikitext)[0] == text


def test_categories_are_collected():
    _, reader = read("[[Category:A|*]] [[category: B ]] [[:Category:C]]")
    assert reader.categories == ["A", "B"]


def test_the_tables_can_be_looked_up():
    headings, templates = tables()["headings"], tables()["templates"]
    for names in headings.values():
        assert names == [name.lower() for name in names]
        assert len(set(names)) == len(names)
    assert all(name == name.casefold() for name in templates)
    assert {"en", "zh", "de"} <= set(headings)

"""Definitions are read in all their spellings, and what cannot be expanded without TeX is left out."""

import pytest

from danlu.latex.define import DEFINERS, Definitions
from danlu.latex.scan import Kind, join_source, scan
from danlu.latex.stream import Stream


def define(text, in_style=False):
    made = Definitions(in_style=in_style)
    stream = Stream(10_000)
    stream.put_back(scan(text, at_is_letter=in_style))
    while token := stream.next():
        if token.kind is Kind.WORD and token.name in DEFINERS:
            DEFINERS[token.name](stream, made, token.text[1:])
    return made


@pytest.mark.parametrize(
    ("text", "arguments", "body"),
    [
        ("\\newcommand{\\x}{a#1}", 0, "a#1"),
        ("\\newcommand\\x[2]{#1#2}", 2, "#1#2"),
        ("\\renewcommand*{\\x}[1][d]{#1}", 1, "#1"),
        ("\\def\\x#1#2{#2}", 2, "#2"),
        ("\\gdef\\x{a}", 0, "a"),
        ("\\DeclareMathOperator{\\x}{arg}", 0, "\\operatorname{arg}"),
        ("\\DeclareMathOperator*\\x{arg}", 0, "\\operatorname*{arg}"),
        ("\\DeclarePairedDelimiter{\\x}{\\lvert}{\\rvert}", 1, "\\lvert{#1}\\rvert"),
        ("\\NewDocumentCommand{\\x}{s m O{k} m}{#2}", 4, "#2"),
        ("\\newcommand{\\y}{b}\\let\\x=\\y", 0, "b"),
        ("\\let\\x\\alpha", 0, "\\alpha"),
        ("\\newcommand{\\x}{a}\\providecommand{\\x}{b}", 0, "a"),
    ],
)
def test_spellings(text, arguments, body):
    macro = define(text).macros["x"]
    assert (len(macro.parameters), join_source(macro.body)) == (arguments, body)


@pytest.mark.parametrize(
    "text",
    [
        "\\def\\x{\\csname a\\endcsname}",
        "\\makeatletter\\def\\x{\\@a}",
        "\\edef\\x{\\x a}",
        "\\let\\x\\x",
        "\\NewDocumentCommand\\x{r()}{a}",
        "\\def\\x",
        "\\newcommand",
        "\\def\\x }{a}",
    ],
)
def test_what_cannot_be_expanded_is_unknown(text):
    assert "x" not in define(text).macros


def test_the_structure_is_not_defined_anew():
    assert not define("\\renewcommand{\\section}[1]{x}\\def\\cite#1{}").macros
    assert define("\\renewcommand{\\v}[1]{\\mathbf{#1}}").macros
    assert not define("\\renewcommand{\\v}[1]{\\mathbf{#1}}\\def\\small{x}", in_style=True).macros


def test_theorems_environments_and_switches():
    made = define(
        "\\newtheorem{thm}{Satz}[section]\\newtheorem*{rmk}{Remark}\\declaretheorem[name=Lem]{l}"
        "\\newenvironment{my}[1]{a#1}{b}\\newenvironment{itemize}{}{}\\newif\\ifdraft"
    )
    assert made.theorems == {"thm": "Satz", "rmk": "Remark", "l": "Lem"}
    assert set(made.environments) == {"my"}
    assert made.switches == {"draft": False}

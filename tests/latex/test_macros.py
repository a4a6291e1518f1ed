"""Macros are expanded in text and formulae, conditions decided, files read, and none makes too much of itself."""

import pytest

from danlu.latex.macros import BUDGET, GROWTH, MOST_DEPTH, Expander
from danlu.latex.scan import join_source, scan


def run(text, files=None):
    files = files or {}
    expander = Expander(lambda command, name: scan(files[name]) if name in files else None, len(text))
    return join_source(expander.run(scan(text))), expander


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("\\newcommand{\\R}{\\mathbb{R}}$x\\in\\R$", "$x\\in\\mathbb{R}$"),
        ("\\def\\a{\\alpha}$\\a x$", "$\\alpha x$"),
        ("\\newcommand{\\n}[2][2]{|#2|_{#1}}\\n{x}\\n[1]{y}", "|x|_{2}|y|_{1}"),
        ("\\def\\p(#1,#2){#2#1}\\p(a,b)c", "bac"),
        ("\\def\\p#1.{<#1>}\\p ab.c", "<ab>c"),
        ("\\newcommand{\\e}{e.g.\\xspace}\\e this, \\e, \\e\\ x", "e.g. this, e.g., e.g.\\ x"),
        ("\\newcommand{\\R}{\\ensuremath{R}}\\R{} and $\\R$", "$R${} and ${R}$"),
        ("\\newenvironment{my}[1]{<#1}{>}\\begin{my}{x}y\\end{my}", "<xy>"),
        ("\\newcommand{\\be}{\\begin{equation}}\\be", "\\begin{equation}"),
        ("\\def\\mk#1{\\def#1##1{(##1)}}\\mk\\z\\z{a}", "(a)"),
        ("\\def\\x{a}\\x* b", "a* b"),
        ("\\renewcommand{\\section}[1]{x}\\section{a}", "\\section{a}"),
    ],
)
def test_expansions(text, expanded):
    assert run(text)[0] == expanded


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("\\iffalse a\\if b\\fi\\else c\\fi d", "cd"),
        ("\\iftrue a\\else b\\fi c", "ac"),
        ("\\newif\\ifx\\xtrue\\ifx a\\fi\\xfalse\\ifx b\\fi", "a"),
        ("\\ifnum 1>2 a\\else b\\fi", "b"),
        ("\\ifmmode a\\else b\\fi$\\ifmmode a\\else b\\fi$", "b$a$"),
        ("$$\\ifmmode a\\fi$$\\ifmmode b\\fi", "$$a$$"),
        ("$a \\iff b$", "$a \\iff b$"),
        ("\\iffalse a b", "a b"),
    ],
)
def test_conditions(text, expanded):
    assert run(text)[0] == expanded


def test_files_are_read_where_they_stand():
    files = {"a": "\\def\\x{1}A\\input{b}", "b": "B", "sub/c": "C"}
    text, expander = run("\\input{a}\\x \\input b\n\\import{sub/}{c}\\input{none}", files)
    assert "".join(text.split()) == "AB1BC"
    assert list(expander.missing) == ["none"]


def test_a_file_that_reads_itself_is_read_once():
    text, expander = run("\\input{a}", {"a": "x\\input{a}"})
    assert text == "x"
    assert expander.refused == {"input a": 1}


def test_styles_define_and_print_nothing():
    files = {"my": "\\newcommand{\\R}{R}\\def\\emph#1{no}text\\usepackage{my}"}
    assert run("\\usepackage[x]{amsmath,my}\\R\\emph{a}", files)[0] == "R\\emph{a}"


def test_a_macro_within_itself_ends_and_is_counted():
    text, expander = run("\\def\\a{x\\a}\\a y")
    assert text.count("x") == MOST_DEPTH
    assert text.endswith("\\a y")
    assert expander.refused["a"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "\\def\\a{\\b\\b\\b\\b}\\def\\b{\\c\\c\\c\\c}\\def\\c{\\d\\d\\d\\d}\\def\\d{\\e\\e\\e\\e}\\def\\e{"
        + "x" * 3000
        + "}\\a\\a\\a",
        "\\def\\a{\\a\\a}\\a",
        "\\def\\a#1{\\a{#1#1}}\\a{x}",
        "\\def\\f#1{\\g}\\def\\g#1{\\f}\\f" + "x" * 3000,
        "\\newcommand{\\a}[1][]{}" + "\\a[" * 1000,
        "\\def\\b#1{#1}" + "\\b{" * 1000,
        "\\def\\b#1.{#1}" + "\\b{" * 1000,
        "\\iffalse" * 1000,
        "\\else" * 1000,
        "\\ensuremath{" * 1000,
        "\\newcommand" * 1000,
        "\\def\\x" * 1000,
    ],
    ids=lambda text: text[:16],
)
def test_expansions_are_bounded(text):
    made, _ = run(text)
    assert len(made) <= (GROWTH + 2) * len(text) + BUDGET


def test_past_the_budget_the_text_stays():
    big = "\\def\\a{" + "x" * 400 + "}" + "\\a" * 20_000 + " the end"
    made, expander = run(big)
    assert made.endswith(" the end")
    assert expander.refused["a"] > 0


def test_a_file_that_would_not_be_read_is_not_asked_for():
    asked = []

    def find(command, name):
        asked.append(name)
        return scan(("x" * 9 + "\\input{a}") * 2_000 if name == "a" else "y " * (BUDGET // 3))

    expander = Expander(find, 100)
    expander.run(scan("\\input{a}" + "\\input{b}" * 50))
    assert asked == ["a", "b"]
    assert expander.refused == {"input a": 2_000, "input b": 50}

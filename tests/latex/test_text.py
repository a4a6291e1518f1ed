"""Expanded sources become the text that LaTeX prints, with formulae as source and layout gone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.extract.section import Section, join_sections
from danlu.latex.scan import scan
from danlu.latex.text import MOST_DEPTH, to_text


def text(source, theorems=None):
    return join_sections(to_text(scan(source), theorems or {})[0])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "Jos\\'e M\\\"uller, \\v{S}, \\c c, \\'{\\i}, \\~n, \\ss{}x, \\O re, \\aa",
            "José Müller, Š, ç, í, ñ, ßx, Øre, å",
        ),
        ("``a'' -- b --- c `d' ?`e", "“a” – b — c ‘d’ ¿e"),
        ("a~b\\,c\\ d\\quad e\\-f", "a b c d ef"),
        ("\\% \\$ \\& \\# \\_ \\{ \\} \\textbackslash{}n \\LaTeX{}", "% $ & # _ { } \\n LaTeX"),
        ("as in~\\cite{b}, \\citep[see][p.~1]{a,b}", "as in [1], [2, 1]"),
        ("Figure~\\ref{f} (\\ref{g}) and", "Figure and"),
        ("\\textbf{a {\\it b}} \\textcolor{red}{c} {\\large d}", "a b c d"),
        ("\\texttt{--x ``y} \\verb|%z|", "--x ``y %z"),
        ("a\\footnote{note \\emph{n}} b\n\nc", "a b\n\nnote n\n\nc"),
        ("\\vspace*{1cm}\\vskip 10pt plus 2pt a\\parindent=0pt\nb", "a b"),
        ("\\paragraph{Head} body", "Head. body"),
        ("\\texorpdfstring{$x$}{x} \\href{http://a}{b} \\url{http://c}", "$x$ b http://c"),
        ("汉字，$x$。😀", "汉字，$x$。😀"),
        ("", ""),
        ("}{ ] [ a", "] [ a"),
        ("a \\label{x}b\\index{y}", "a b"),
        ("costs \\$5 and $x$", "costs $5 and $x$"),
    ],
)
def test_running_text(source, expected):
    assert text(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("\\begin{itemize}\\item a\n\\item[x] b\\end{itemize}", "- a\nx b"),
        ("\\begin{enumerate}\\item a \\item b\\end{enumerate}", "1. a\n2. b"),
        ("\\begin{description}\\item[T] a\\end{description}", "T: a"),
        (
            "\\begin{figure}[t]\\centering\\includegraphics{x}\\caption[s]{C $x$}\\label{l}\\end{figure}",
            "C $x$",
        ),
        ("a\\begin{table}\\begin{tabular}{l}x\\end{tabular}\\caption{C}\\end{table}b", "ab\n\nC"),
        ("a\\begin{tikzpicture}\\node{x};\\end{tikzpicture}b", "ab"),
        ("\\begin{tabular}{ll}a & b \\\\ \\hline c & d\\end{tabular}", "a\tb\nc\td"),
        ("\\begin{theorem}[N] a\\end{theorem}\\begin{proof}b\\end{proof}", "Theorem (N). a\n\nProof. b"),
        ("\\begin{quote}a\\end{quote}b", "a\n\nb"),
        ("a\n\\begin{verbatim}\n  x %\n\\end{verbatim}", "a\n\n  x %"),
        ("a\\begin{thebibliography}{9}\\bibitem{x} X\\end{thebibliography}", "a"),
        ("we get\n\\[ x \\label{a} \\]\nso", "we get\n\\[ x \\]\nso"),
        (
            "\\begin{figure}\\begin{lstlisting}\nint a;\n\\end{lstlisting}\\caption{C}\\end{figure}",
            "int a;\n\nC",
        ),
    ],
)
def test_environments(source, expected):
    assert text(source) == expected


def test_titles_of_theorems_are_the_papers_own():
    assert text("\\begin{thm}a\\end{thm}", {"thm": "Satz"}) == "Satz. a"


def test_sections_abstract_and_metadata():
    source = (
        "\\title{A \\emph{B}\\thanks{x}}\\author{J. D\\'oe$^1$\\\\Dept \\and K. Roe\\thanks{y}}\\date{May 2020}ignored"
        "\\begin{document}\\maketitle\\begin{abstract}We.\\end{abstract}\\section*{One}a\\subsection{Two}b"
        "\\section{Three}\\end{document}gone"
    )
    sections, facts = to_text(scan(source), {})
    assert sections == (
        Section(("Abstract",), "We."),
        Section(("One",), "a"),
        Section(("One", "Two"), "b"),
        Section(("Three",), ""),
    )
    assert facts.metadata == {"title": "A B", "author": "J. Dóe; K. Roe", "date": "May 2020"}


def test_unknown_commands_leave_one_argument_and_are_counted():
    sections, facts = to_text(scan("\\foo{a} \\bar{b}{c} \\baz[o]{d} \\begin{odd}e\\end{odd}"), {})
    assert sections[0].text == "a d\n\ne"
    assert facts.unknown == {"foo": 1, "bar": 1, "baz": 1, "begin{odd}": 1}


def test_a_formula_without_its_end_is_counted():
    sections, facts = to_text(scan("a $b\n\nc $d$"), {})
    assert (sections[0].text, facts.unclosed) == ("a b\n\nc $d$", 1)


@pytest.mark.parametrize(
    "piece", ["\\footnote{", "{", "\\begin{quote}", "\\section{", "\\'{", "$", "\\item[", "\\title{"]
)
def test_deep_and_endless_nesting_is_read(piece):
    for closing in ("", "}" if piece.endswith("{") else ""):
        to_text(scan(piece * (40 * MOST_DEPTH) + "x" + closing * (40 * MOST_DEPTH)), {})


@given(
    st.lists(
        st.sampled_from(
            [
                "\\section",
                "{",
                "}",
                "[",
                "]",
                "$",
                "$$",
                "\\(",
                "\\]",
                "a",
                " ",
                "\n\n",
                "\\item",
                "\\cite",
                "\\'",
                "%\n",
                "\\begin{figure}",
                "\\end{figure}",
                "\\begin{align}",
                "\\end{align}",
                "\\caption",
                "\\title",
                "\\vskip",
                "\\author",
                "\\and",
                "\\\\",
                "&",
                "#1",
                "~",
                "\\verb|x|",
                "汉",
                "\ud800",
                "\0",
                "\\begin{itemize}",
            ]
        ),
        max_size=40,
    )
)
def test_nothing_breaks_it(pieces):
    sections, _ = to_text(scan("".join(pieces)), {})
    assert all(section.text == section.text.strip("\n") for section in sections)

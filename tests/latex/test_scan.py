"""Sources become tokens: comments gone, code whole, control words with their space, and back to the same source."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.latex.scan import Kind, declared_verbatim, join_source, scan


def kinds(text, **options):
    return [(token.kind, token.name or token.text) for token in scan(text, **options)]


def test_control_words_take_the_white_space_behind_them_but_not_a_blank_line():
    tokens = scan("\\alpha  x\\beta\n\ny\\foo* z")
    assert [t.kind for t in tokens][:3] == [Kind.WORD, Kind.TEXT, Kind.WORD]
    assert (tokens[0].name, tokens[0].after) == ("alpha", "  ")
    assert tokens[3].kind is Kind.PARAGRAPH
    assert (tokens[5].name, tokens[5].text) == ("foo", "\\foo*")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a% gone\n   b", "ab"),
        ("a % gone\nb", "a b"),
        ("a\\% stays", "a\\% stays"),
        ("a%\n\nb", "a\n\nb"),
        ("% to the end", ""),
        ("a\\\\% gone\nb", "a\\\\b"),
        ("\\begin{comment}\n gone {\n\\end{comment}b", "b"),
        ("x\\endinput rest", "x"),
    ],
)
def test_comments_are_gone(text, left):
    assert join_source(scan(text)) == left


def test_code_is_one_token_as_it_stands():
    text = "\\begin{verbatim}\n a % {b\n\\end{verbatim}\\begin{lstlisting}[language=C]\nint a[1];\n\\end{lstlisting}"
    assert [(t.kind, t.text) for t in scan(text)] == [
        (Kind.VERBATIM, " a % {b\n"),
        (Kind.VERBATIM, "int a[1];\n"),
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("\\verb|a%b|", "a%b"),
        ("\\verb*+x y+", "x y"),
        ("\\lstinline!{!", "{"),
        ("\\url{http://a.b/%20_#}", "http://a.b/%20_#"),
        ("\\mintinline{c}{a[1]}", "a[1]"),
    ],
)
def test_code_and_addresses_within_a_line(text, code):
    assert [(t.kind, t.text) for t in scan(text)] == [(Kind.INLINE, code)]


def test_the_address_of_a_link_is_no_text():
    assert join_source(scan("\\href{http://a/%7E}{shown}")) == "{shown}"


def test_declared_environments_of_code():
    text = "\\lstnewenvironment{code}{}{}\\DefineVerbatimEnvironment{out}{Verbatim}{}"
    assert declared_verbatim(text) == {"code", "out"}
    assert scan("\\begin{code}\n%\n\\end{code}", {"code"})[0].text == "%\n"


def test_at_is_a_letter_in_styles_and_behind_makeatletter():
    assert kinds("\\a@b") == [(Kind.WORD, "a"), (Kind.TEXT, "@b")]
    assert kinds("\\a@b", at_is_letter=True) == [(Kind.WORD, "a@b")]
    assert kinds("\\makeatletter\\a@b\\makeatother\\a@b")[0] == (Kind.WORD, "a@b")


def test_code_without_an_end_is_a_beginning():
    tokens = scan("\\begin{verbatim} a" * 3)
    assert [t.kind for t in tokens].count(Kind.BEGIN) == 3


def test_a_letter_does_not_lengthen_a_control_word():
    tokens = scan("\\alpha")
    assert join_source([*tokens, *scan("x")]) == "\\alpha x"
    assert join_source([*tokens, *scan("1")]) == "\\alpha1"


@given(st.text("ab\\{}$&#~% \t\n\r[]*1_\0\ud800汉😀", max_size=60))
def test_whatever_has_no_comment_comes_back(text):
    normal = text.replace("\r\n", "\n").replace("\r", "\n")
    back = join_source(scan(text))
    if "%" not in normal:
        squeezed = "".join(normal.split())
        assert "".join(back.split()) == squeezed


def test_a_long_text_is_cut_so_that_taking_a_character_off_stays_cheap():
    assert max(len(token.text) for token in scan("a" * 5000)) <= 500


def test_work_grows_with_the_length_for_texts_that_never_close():
    for piece in ("\\begin{verbatim}", "\\verb|", "\\url{", "$", "{", "\\begin{", "%\n", "\\foo \n", "["):
        assert len(scan(piece * 2000)) <= 2 * 2000 * len(piece)

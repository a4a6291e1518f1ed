"""The HTML of posts to text."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.dumps.post_html import to_text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>Hello <b>you</b>\nthere</p>\n\n<p>bye</p>", "Hello you there\n\nbye"),
        ("<pre><code>if a &lt; b:\n    c()\n\n\tx &amp;amp;\n</code></pre>", "if a < b:\n    c()\n\n\tx &amp;"),
        ("a<pre>\r\n  b\r\n</pre>c", "a\n\n  b\n\nc"),
        ("<ul>\n<li>a</li>\n<li><p>b</p>\n<ol><li>c</li><li>d</li></ol></li>\n<li>e</li></ul><p>f</p>",
         "- a\n- b\n  1. c\n  2. d\n- e\n\nf"),
        ("<ol><li>a</li></ol><ul><li>b</li></ul>", "1. a\n\n- b"),
        ("<ul><li>a<pre><code>b</code></pre></li><li>c</li></ul>", "- a\n\nb\n\n- c"),
        ("<p>use <code>f(x)</code> and <kbd>Ctrl</kbd> <a href='u' rel=\"n\">here</a> <img src='x' alt='enter'></p>",
         "use f(x) and Ctrl here"),
        ("<blockquote>\n<p>q</p>\n</blockquote>\n<p>a</p>", "q\n\na"),
        ("<p>a<br>b<br/>c</p>", "a\nb\nc"),
        ("<table><thead><tr><th>a</th><th>b</th></tr></thead>"
         "<tbody><tr><td>1</td><td></td><td>3 </td></tr></tbody></table>",
         "a\tb\n\n1\t\t3"),
        ("<h2>t</h2>x<hr>y<!-- z -->", "t\n\nx\n\ny"),
        ("$a<b$ and 1 < 2 &gt; 0 &eacute;", "$a<b$ and 1 < 2 > 0 é"),
        ("<pre>open", "open"),
        ("</li></ul></pre>x</ol>", "x"),
        ("<li>a", "- a"),
        ("<", "<"),
        ("", ""),
        ("  \r\n", ""),
        ("今天<b>天气</b>很好 😀 \ud800", "今天天气很好 😀 \ud800"),
    ],
)  # fmt: skip
def test_markup(markup, text):
    assert to_text(markup) == text


@given(st.text(max_size=60))
def test_what_is_escaped_comes_back(text):
    words = " ".join(text.replace("\0", "").split())
    shown = html.unescape(html.escape(words))
    assert to_text(f"<p>{html.escape(words)}</p>").split() == shown.split()


@given(
    st.lists(
        st.sampled_from(
            [
                "<p>",
                "</p>",
                "<ul>",
                "</ul>",
                "<ol>",
                "<li>",
                "</li>",
                "<pre>",
                "</pre>",
                "<td>",
                "a",
                " ",
                "\n",
                "<",
            ]
        )
    )
)
def test_any_order_of_tags_keeps_the_words(pieces):
    assert to_text("".join(pieces)).count("a") == sum(piece == "a" for piece in pieces)


@pytest.mark.parametrize(
    "piece", ["<", "<a", "<!--", "<p>", "<li>", "<ul><li>x", "&", "&amp", "<pre>", "a ", "\n"]
)
def test_a_megabyte_of_anything_is_read(piece):
    assert len(to_text(piece * (200_000 // len(piece)))) < 5_000_000

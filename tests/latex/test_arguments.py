"""Where arguments begin and end among tokens."""

import pytest

from danlu.latex.arguments import Places
from danlu.latex.scan import join_source, scan


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("[a]b", "[a]"),
        (" [a{]}]b", " [a{]}]"),
        ("[a[b]c]d", "[a[b]c]"),
        ("b[a]", ""),
        ("[a", ""),
        ("[a\n\nb]", ""),
        ("[a}b]", ""),
        ("", ""),
    ],
)
def test_options(text, option):
    places = Places(scan(text))
    behind = places.option_end(0, len(places.tokens))
    assert join_source(places.tokens[:behind]) == option


@pytest.mark.parametrize(
    ("text", "inner", "rest"), [(" {a}b", "a", "b"), ("\\x b", "\\x ", "b"), ("{a", "", "{a"), ("", "", "")]
)
def test_groups(text, inner, rest):
    places = Places(scan(text))
    start, stop, behind = places.group(0, len(places.tokens))
    assert (join_source(places.tokens[start:stop]), join_source(places.tokens[behind:])) == (inner, rest)

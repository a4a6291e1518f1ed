"""Words and phrases of lists, beside a slow search of tokens; adversarial texts and files."""

import gzip
import math
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import InputError, MissingError
from danlu.scorers import keywords
from danlu.scorers.features import split_tokens
from danlu.scorers.keywords import MOST_TOKENS, decide, find_phrases, forget_files, load_phrases, measure
from danlu.scorers.settings import Keywords
from danlu.words.classes import table
from danlu.words.text import Text, encode


def tokens(text):
    text = text.casefold()
    starts, ends = split_tokens(encode(text), table())
    return [text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def slow_search(text, phrases):
    """(matches, code points matched, code points of all tokens), the longest phrase at each place."""
    words, wanted = tokens(text), {tuple(tokens(phrase)) for phrase in phrases if tokens(phrase)}
    place = matches = matched = 0
    while place < len(words):
        fitting = [len(p) for p in wanted if tuple(words[place : place + len(p)]) == p]
        length = max(fitting, default=0)
        matches += bool(length)
        matched += sum(map(len, words[place : place + length]))
        place += max(length, 1)
    return matches, matched, sum(map(len, words))


@pytest.fixture
def write(tmp_path):
    def written(*phrases, name="list.txt"):
        path = tmp_path / name
        path.write_text("\n".join(phrases), encoding="utf-8", errors="surrogatepass")
        forget_files()
        return str(path)

    return written


def search(text, file):
    codes = encode(text.casefold())
    return find_phrases(codes, *split_tokens(codes, table()), load_phrases([file]))


LIST = ["bad", "bad word", "a b a c", "a$$", "g-spot", "坏话", "坏", "Straße", "🖕", "f u c k"]


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", 0),
        ("  ", 0),
        ("A BAD Word, badly worded", 1),
        ("bad bad word bad", 3),
        ("a b a b a c", 1),
        ("an a$$ and a g-spot, a g spot", 2),
        ("这是坏话坏。", 2),
        ("STRASSE und straße", 2),
        ("🖕🖕 🖕", 1),
        ("f\nu  c\tk", 1),
        ("badword forbad bad_ bad", 2),
        ("bad\0bad \ud800bad", 2),
    ],
)
def test_phrases_are_found(write, text, matches):
    file = write(*LIST)
    assert search(text, file) == slow_search(text, LIST)
    assert search(text, file)[0] == matches


@given(
    st.lists(st.text(alphabet="aAb$ 字坏", min_size=1, max_size=8), min_size=1, max_size=8),
    st.text(alphabet="aAb$ \n字坏", max_size=60),
)
def test_any_text_and_list(tmp_path_factory, phrases, text):
    if not any(map(tokens, phrases)):
        return
    path = tmp_path_factory.mktemp("lists") / "list.txt"
    path.write_text("\n".join(phrases), encoding="utf-8")
    assert search(text, str(path)) == slow_search(text, phrases)


def test_lists_of_languages(write):
    english, chinese, always = write("bad"), write("坏", name="zh.txt"), write("x", name="all.txt")
    rules = Keywords(lists={"en": english, "zh": chinese})
    assert measure(Text("bad 坏", "en"), rules).values == (1.0, 0.75)
    assert measure(Text("bad 坏", "zh"), rules).values == (1.0, 0.25)
    for language in ("", "de"):
        assert all(map(math.isnan, measure(Text("bad", language), rules).values))
    rules = Keywords(lists={"en": english, "*": always})
    assert measure(Text("bad x", "en"), rules).values == (2.0, 1.0)
    assert measure(Text("bad x", ""), rules).values == (1.0, 0.25)
    text = Text("bad", "en")
    assert measure(text, rules).text is text


def test_decisions(write):
    file = write("bad")
    rules = Keywords(lists={"*": file}, max_matches=1, max_share=0.5)
    assert decide((2.0, 0.1), rules) == "too_many_matches"
    assert decide((1.0, 0.6), rules) == "too_large_share"
    assert decide((1.0, 0.5), rules) == ""
    assert decide((math.nan, math.nan), rules) == ""
    assert decide((99.0, 1.0), Keywords(lists={"*": file})) == ""
    assert decide(measure(Text(""), rules).values, rules) == ""


def test_files_that_cannot_be_used(write, tmp_path):
    with pytest.raises(MissingError, match=r"gone\.txt does not exist"):
        load_phrases([str(tmp_path / "gone.txt")])
    with pytest.raises(InputError, match="has no word"):
        load_phrases([write("", "  ")])
    with pytest.raises(InputError, match="line 2: 65 words"):
        load_phrases([write("good", "a " * (MOST_TOKENS + 1))])


def test_files_are_read_once_until_they_change(write, tmp_path):
    file = write("one")
    rules = Keywords(lists={"*": file})
    first = load_phrases([file])
    assert load_phrases([file]) is first
    assert measure(Text("one two"), rules).values[0] == 1
    (tmp_path / "list.txt").write_text("one\ntwo\n")
    os.utime(file, ns=(5, 5))
    assert measure(Text("one two"), rules).values[0] == 2
    (tmp_path / "more.txt.gz").write_bytes(gzip.compress(b"\xef\xbb\xbfthree\r\nfour"))
    assert search("three four", str(tmp_path / "more.txt.gz"))[0] == 2
    assert keywords.MEASURES == ("matches", "share")


def test_a_longest_phrase_on_a_text_of_its_beginnings(write):
    phrase = " ".join(["a"] * (MOST_TOKENS - 1) + ["b"])
    text = "a " * 20_000
    assert search(text, write(phrase)) == (0, 0, 20_000)
    assert search(text + "b", write(phrase))[0] == 1


def test_many_phrases_fit(write):
    phrases = [f"word{number} next{number % 7}" for number in range(5000)]
    file = write(*phrases)
    assert search(" ".join(phrases), file)[0] == 5000
    assert search("word1 next2 word2", file)[0] == 0

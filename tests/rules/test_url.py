"""Addresses: hosts, registered domains, lists of domains and words, the package's own and the user's."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import InputError
from danlu.rules import url
from danlu.rules.settings import Url
from danlu.rules.url import host_of, is_listed, registered_domain
from danlu.words.text import Text


def outcome(address, **settings):
    rules = Url(**settings)
    return url.decide(url.measure(Text("text", metadata={"url": address}), rules).values, rules)


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://WWW.Example.com/a?b#c", "www.example.com"),
        ("http://user:secret@example.com:8080/", "example.com"),
        ("//example.com?x", "example.com"),
        ("example.com./a", "example.com"),
        ("http://[::1]:80/a", "[::1]"),
        ("http://127.0.0.1:80", "127.0.0.1"),
        ("http://例子.中国/路", "例子.中国"),
        ("", ""),
        ("https://", ""),
        ("mailto:a@b.c", "b.c"),
        ("http://a.b\\@evil.com", "a.b"),
    ],
)
def test_host(address, host):
    assert host_of(address) == host


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.a.example.com", "example.com"),
        ("a.b.co.uk", "b.co.uk"),
        ("co.uk", "co.uk"),
        ("news.xinhua.com.cn", "xinhua.com.cn"),
        ("a.bj.cn", "a.bj.cn"),
        ("x.y.github.io", "y.github.io"),
        ("github.io", "github.io"),
        ("t.co", "t.co"),
        ("a.go.com", "go.com"),
        ("localhost", "localhost"),
        ("10.0.0.1", "10.0.0.1"),
        ("[::1]", "[::1]"),
        ("", ""),
    ],
)
def test_registered_domain(host, domain):
    assert registered_domain(host) == domain


def test_a_listed_name_covers_what_is_under_it_and_no_more():
    domains = frozenset({"bad.com", "sub.mixed.com", "io"})
    assert is_listed("bad.com", domains)
    assert is_listed("a.b.bad.com", domains)
    assert is_listed("x.sub.mixed.com", domains)
    assert not is_listed("mixed.com", domains)
    assert not is_listed("notbad.com", domains)
    assert not is_listed("good.io", domains)  # a list cannot bar a whole suffix
    assert not is_listed("", domains)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("https://example.com/an/article", ""),
        ("https://de.pornhub.com/x", "domain"),
        ("https://pornhub.community.org/rules", ""),
        ("https://ad.doubleclick.net/x", "domain"),
        ("https://example.com/free-PORN-here", "hard_word"),
        ("https://example.com/%E8%89%B2%E6%83%85", "hard_word"),
        ("https://example.com/escort/prices", ""),
        ("https://example.com/escort_teen/prices", "soft_words"),
        ("https://example.com/escort/escort", ""),
        ("https://free-porn.example.com", "hard_word"),
        ("https://freeporn1.example.com", "word_part"),
        ("https://scunthorpe.co.uk/sussex/middlesex/essex", ""),
    ],
)
def test_own_lists(address, reason):
    assert outcome(address) == reason
    assert outcome(address, own_lists=False) == ""


def test_user_lists(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return [str(tmp_path / name)]

    settings = {
        "own_lists": False,
        "domain_lists": write("d.txt", "\ufeff# mine\nhttps://Spam.example/\n\n"),
        "url_lists": write("u.txt", "http://fine.org/one/page/\r\n"),
        "hard_word_lists": write("h.txt", "Casino\n"),
        "soft_word_lists": write("s.txt", "buy\nnow\nhere\n"),
        "part_lists": write("p.txt", "Cheap-Pills\n--\n"),
    }
    assert outcome("https://a.spam.example/x", **settings) == "domain"
    assert outcome("https://FINE.org/one/page#top", **settings) == "address"
    assert outcome("https://fine.org/one", **settings) == ""
    assert outcome("https://fine.org/casino/", **settings) == "hard_word"
    assert outcome("https://fine.org/buy-it-now", **settings) == "soft_words"
    assert outcome("https://fine.org/buy-it-now", **settings, min_soft_words=3) == ""
    assert outcome("https://fine.org/verycheap.pills", **settings) == "word_part"


def test_a_list_is_read_once_until_it_is_forgotten(tmp_path):
    mine = tmp_path / "d.txt"
    mine.write_text("spam.example\n")
    assert outcome("https://fine.org/", domain_lists=[str(mine)]) == ""
    mine.write_text("fine.org\n")
    assert outcome("https://fine.org/", domain_lists=[str(mine)]) == ""
    url.forget_files()
    assert outcome("https://fine.org/", domain_lists=[str(mine)]) == "domain"


def test_a_document_without_an_address():
    assert all(math.isnan(value) for value in url.measure(Text("text"), Url()).values)
    assert outcome("") == ""
    assert outcome(" ", missing="drop") == "missing"


def test_lists_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"none\.txt"):
        outcome("https://a.b", domain_lists=[str(tmp_path / "none.txt")])
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(InputError, match=r"latin\.txt"):
        outcome("https://a.b", hard_word_lists=[str(tmp_path / "latin.txt")])


@given(st.text(max_size=60) | st.text(alphabet="htps:/@[].%?#\\é ", max_size=40))
def test_any_text_is_an_address(address):
    outcome(address)
    registered_domain(host_of(address))


def test_own_lists_are_in_order_and_hold_each_entry_once():
    for path in url._OWN.glob("*.txt"):
        entries = url.read_list(path)
        assert entries == list(dict.fromkeys(entries))
        assert all(entry == entry.lower() for entry in entries)

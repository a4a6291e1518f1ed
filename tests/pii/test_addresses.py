"""E-mail and IP addresses, credentials: where they begin and end, and what only looks like one."""

import pytest

from danlu.pii import addresses
from danlu.pii.view import look
from danlu.words.text import Text


def found(finder, text):
    return [text[item.start : item.end] for item in finder(look(Text(text)))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a@b.de, c@d.org;e@f.cn", ["a@b.de", "c@d.org", "e@f.cn"]),
        ("...a.b@c.de...", ["a.b@c.de"]),
        ("x@y.com.The next", ["x@y.com"]),
        ("邮箱x@y.cn的", ["x@y.cn"]),
        ("x@y.xn--fiqs8s", ["x@y.xn--fiqs8s"]),
        ("a [ at ] b.org", ["a [ at ] b.org"]),
        ("a(at)b(dot)org", ["a(at)b(dot)org"]),
        ("look (at) the cat", []),
        ("a@-b.de a@b-.de", []),
        ("@" * 10, []),
        ("https://me@host.org/", []),
    ],
)
def test_emails(text, expected):
    assert found(addresses.emails, text) == expected


def test_long_parts_end():
    assert found(addresses.emails, "a" * 200 + "@b.de") == ["a" * 64 + "@b.de"]
    assert found(addresses.emails, "a@" + "b" * 100 + ".de") == []


def test_top_level_domains_are_small_letters():
    assert all(name == name.lower() and 2 <= len(name) <= 13 for name in addresses.TOP_LEVEL)
    assert {"com", "org", "cn", "de", "gov", "museum"} <= addresses.TOP_LEVEL
    assert not {"png", "js", "txt", "shape", "local"} & addresses.TOP_LEVEL


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("93.184.216.34", ["93.184.216.34"]),
        ("93.184.216.34.", ["93.184.216.34"]),
        ("93.184.216.34:80 93.184.216.35/8", ["93.184.216.34", "93.184.216.35"]),
        ("93.184.216.34.5 193.184.216.340", []),
        ("10.0.0.111 127.0.0.1 100.64.10.10 169.254.10.10", []),
        ("2001:4860:4860::8888.", ["2001:4860:4860::8888"]),
        ("2001:4860:4860::8888: yes", ["2001:4860:4860::8888"]),
        ("::ffff:93.184.216.34", ["::ffff:93.184.216.34"]),
        ("2001:4860:4860::88888 x2001:4860::1 ::1 fe80::1", []),
        ("12.10.13.1 Overview", []),
        ("# 12.10.13.1. 概述", []),
        ("ping 12.10.13.1 Overview", ["12.10.13.1"]),
    ],
)
def test_ip_addresses(text, expected):
    addresses_found = found(addresses.ip_addresses, text)
    # The address inside a mapped one is found too; settling keeps the longer.
    assert [
        one for one in addresses_found if not any(one != other and one in other for other in addresses_found)
    ] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://a:b1c@h.org", ["a:b1c"]),
        ("https://a:b1c@h.org https://d:e2f@g.org", ["a:b1c", "d:e2f"]),
        ("https://h.org:80/x@y", []),
        ("https://user:password@h.org https://$U:$P@h", []),
        ("https://a:@h :// ://a:b", []),
    ],
)
def test_credentials(text, expected):
    assert found(addresses.url_credentials, text) == expected

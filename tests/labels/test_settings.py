"""An endpoint's settings: where a key may go, and that nothing is asked without a cap."""

import pytest
from pydantic import ValidationError

from danlu.labels.settings import Endpoint, is_local


@pytest.mark.parametrize(
    "url",
    ["https://host.example/v1", "http://localhost:8000/v1", "http://127.0.0.1:1/v1/", "http://[::1]:80/v1"],
)
def test_addresses_that_are_safe(url):
    assert Endpoint(url=url, model="m").url == url.rstrip("/")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://host.example/v1", "in the open"),
        ("http://127.0.0.1.host.example/v1", "in the open"),
        ("http://localhost.example/v1", "in the open"),
        ("http://[2001:db8::1]/v1", "in the open"),
        ("ftp://host.example/v1", "no address"),
        ("file:///etc/passwd", "no address"),
        ("host.example/v1", "no address"),
        ("https://me:secret@host.example/v1", "no user"),
        ("https://host.example/v1?key=secret", "no user"),
    ],
)
def test_addresses_that_are_not(url, message):
    with pytest.raises(ValidationError, match=message):
        Endpoint(url=url, model="m")


def test_money_needs_prices():
    with pytest.raises(ValidationError, match="needs input_price and output_price"):
        Endpoint(url="https://host.example/v1", model="m", max_cost=1.0)
    settings = Endpoint(
        url="https://host.example/v1", model="m", max_cost=1.0, input_price=1, output_price=2, max_tokens="2M"
    )
    assert settings.max_tokens == 2_000_000


def test_only_this_machine_is_local():
    assert [is_local(host) for host in ("localhost", "127.9.9.9", "::1", "10.0.0.1", "host.example", "")] == [
        *(True, True, True, False, False, False)
    ]

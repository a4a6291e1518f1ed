"""The step's table: kinds, placeholders, and keys without effect."""

import pytest
from pydantic import ValidationError

from danlu.pii.settings import KINDS, Pii


def test_defaults():
    settings = Pii()
    assert settings.action == "mask"
    assert tuple(settings.kinds) == KINDS
    assert settings.placeholder("credit_card") == "<CREDIT_CARD>"
    assert Pii(**settings.model_dump()) == settings
    assert not Pii(languages=["en"], domains=["web"]).concerns("sw", "web")


def test_placeholders():
    settings = Pii(placeholders={"email": "[mail]", "phone": ""})
    assert [settings.placeholder(kind) for kind in ("email", "phone", "ip")] == ["[mail]", "", "<IP>"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kinds": []}, "at least 1"),
        ({"kinds": ["email", "email"]}, "twice"),
        ({"kinds": ["fax"]}, "email"),
        ({"kinds": ["email", "name"]}, "give names"),
        ({"max_items": 3}, "no effect"),
        ({"max_items": -1, "action": "drop"}, "greater than"),
        ({"action": "count", "placeholders": {"email": "x"}}, "no effect"),
        ({"kinds": ["ip"], "placeholders": {"email": "x"}}, "not looked for: email"),
        ({"kinds": ["ip"], "names": {"en": "a"}}, "names have no effect"),
        ({"action": "hide"}, "mask"),
    ],
)
def test_refused(given, words):
    with pytest.raises(ValidationError, match=words):
        Pii(**given)

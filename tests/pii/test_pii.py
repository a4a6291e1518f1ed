"""The step: counts, masks, drops; what is not looked for is not a number; nothing else of a text changes."""

import math

import pytest

from danlu.errors import InputError
from danlu.pii import pii
from danlu.pii.find import find
from danlu.pii.settings import KINDS, Pii
from danlu.words.text import Text
from pii.odd import ODD, random_texts
from pii.planted_table import read_table

SAMPLE = "Write to anna@web.de or bob@gmx.net, or ring +44 20 7946 0958.\r\nIP 93.184.216.34"


def measured(text, **settings):
    rules = Pii(**settings)
    found = pii.measure(Text(text), rules)
    return (
        found.text.text,
        dict(zip(pii.MEASURES, found.values, strict=True)),
        pii.decide(found.values, rules),
    )


def test_masks_with_typed_placeholders():
    text, values, reason = measured(SAMPLE)
    assert text == "Write to <EMAIL> or <EMAIL>, or ring <PHONE>.\r\nIP <IP>"
    assert [values[kind] for kind in ("items", "email", "phone", "ip", "iban")] == [4, 2, 1, 1, 0]
    assert math.isnan(values["name"])
    assert reason == ""


def test_kinds_and_placeholders():
    text, values, _ = measured(SAMPLE, kinds=["ip"], placeholders={"ip": "[?]"})
    assert text == SAMPLE.replace("93.184.216.34", "[?]")
    assert values["items"] == values["ip"] == 1
    assert all(math.isnan(values[kind]) for kind in KINDS if kind != "ip")


@pytest.mark.parametrize("action", ["mask", "count", "drop"])
def test_clean_texts_are_the_same_object(action):
    text = Text("Nothing of anyone is in here, 1, 2, 3.")
    assert pii.measure(text, Pii(action=action)).text is text


def test_count_and_drop_leave_texts_alone():
    for action in ("count", "drop"):
        text = Text(SAMPLE)
        assert pii.measure(text, Pii(action=action)).text is text
    assert measured(SAMPLE, action="count")[2] == ""
    assert measured(SAMPLE, action="drop")[2] == "personal_data"
    assert measured(SAMPLE, action="drop", max_items=3)[2] == "personal_data"
    assert measured(SAMPLE, action="drop", max_items=4)[2] == ""
    assert pii.decide([math.nan] * len(pii.MEASURES), Pii(action="drop")) == ""


def test_names_by_language(tmp_path):
    (tmp_path / "zh.txt").write_text("张伟\n", encoding="utf-8")
    rules = Pii(names={"zh": str(tmp_path / "zh.txt")})
    for language, expected in (("zh", "<NAME>来了"), ("", "<NAME>来了"), ("en", "张伟来了")):
        found = pii.measure(Text("张伟来了", language), rules)
        assert found.text.text == expected
        assert found.text.language == language
        assert found.values[-1] == (expected != "张伟来了")
    pii.forget_files()
    with pytest.raises(InputError, match="names"):
        pii.measure(Text("x"), Pii(names={"zh": str(tmp_path / "none.txt")}))


@pytest.mark.parametrize("text", [*ODD, *(item.text for item in read_table())])
def test_a_second_time_changes_nothing(text):
    once, _, _ = measured(text)
    twice, values, _ = measured(once)
    assert twice == once
    assert values["items"] == 0


def test_what_is_not_masked_stays():
    rules = Pii(placeholders=dict.fromkeys(KINDS, "\x01"))
    for text in random_texts(200, seed=13):
        items = find(Text(text), KINDS)
        masked = pii.mask(text, items, rules)
        kept, at = masked.split("\x01"), 0
        assert len(kept) == len(items) + 1
        for part, item in zip(kept, items, strict=False):
            assert text[at : at + len(part)] == part
            at += len(part)
            assert at == item.start
            at = item.end
        assert text[at:] == kept[-1]

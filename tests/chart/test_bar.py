"""Bars are in proportion, visible when above zero, and said in words."""

import math
import xml.etree.ElementTree as ET

import pytest

from danlu.chart.bar import WIDTH, Bar, bar_chart


def lengths(svg: str) -> list[float]:
    return [float(r.attrib["width"]) for r in ET.fromstring(svg).iter("rect") if r.attrib["class"] != "track"]


def test_lengths_are_in_proportion():
    svg = bar_chart(
        [Bar("a", 100, "100"), Bar("b", 25, "25"), Bar("c", 1e-9, "few"), Bar("d", 0, "none")], "t"
    )
    assert lengths(svg) == [WIDTH, WIDTH / 4, 1.5, 0]


def test_words():
    svg = ET.fromstring(bar_chart([Bar("read <b>", 3, "3 documents", "good")], "Funnel"))
    assert svg.findtext("title") == "Funnel"
    assert svg.findtext("desc") == "read <b>: 3 documents"
    assert [text.text for text in svg.iter("text")] == ["read <b>", "3 documents"]


@pytest.mark.parametrize("bars", [[], [Bar("a", 0, "0")]])
def test_nothing_is_still_a_picture(bars):
    assert all(length == 0 for length in lengths(bar_chart(bars, "t")))


@pytest.mark.parametrize("value", [-1.0, math.nan])
def test_what_has_no_length_is_refused(value):
    with pytest.raises(ValueError, match="negative or not-a-number"):
        bar_chart([Bar("a", value, "?")], "t")

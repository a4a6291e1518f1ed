"""Bands are in proportion, one on the other, and every one has its label."""

import math
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from danlu.chart.stack import Band, stack_chart

BANDS = [Band("prose", [0.75, 0.25]), Band("code <b>", [0.25, 0.0]), Band("math", [0.0, 0.75])]


def drawn(svg, number):
    """(x, y, width, height) of a band's rectangles."""
    places = [r for r in ET.fromstring(svg).iter("rect") if r.attrib["class"].split()[1] == f"s{number}"]
    return [tuple(float(r.attrib[key]) for key in ("x", "y", "width", "height")) for r in places]


def test_proportions():
    svg = stack_chart([0, 300, 400], BANDS, "t", "tokens")
    (x0, y0, w0, h0), (x1, y1, w1, h1) = drawn(svg, 0)
    assert w0 == pytest.approx(3 * w1, abs=0.2)
    assert x1 == pytest.approx(x0 + w0, abs=0.1)
    assert h0 == pytest.approx(3 * h1, abs=0.2)
    assert y0 + h0 == pytest.approx(y1 + h1, abs=0.1)
    ((_, above, _, high),) = drawn(svg, 1)
    assert above + high == pytest.approx(y0, abs=0.1)
    ((x2, _, _, _),) = drawn(svg, 2)
    assert x2 == x1


def test_words():
    svg = ET.fromstring(stack_chart([0, 300, 400], BANDS, "Mixture", "tokens"))
    assert svg.findtext("title") == "Mixture"
    assert svg.findtext("desc") == (
        "Shares by step. prose: 75.0%, 25.0%; code <b>: 25.0%, 0.0%; math: 0.0%, 75.0%."
    )
    texts = [text.text for text in svg.iter("text")]
    assert {"prose", "code <b>", "math", "75%", "25%", "tokens", "1", "2"} <= set(texts)


def test_one_step_has_no_number():
    texts = [
        text.text for text in ET.fromstring(stack_chart([0, 9], [Band("a", [1.0])], "t", "x")).iter("text")
    ]
    assert "1" not in texts
    assert "100%" in texts


def test_many_bands_have_room_for_their_labels():
    bands = [Band(f"d{i}", [1 / 40]) for i in range(40)]
    svg = ET.fromstring(stack_chart([0, 1], bands, "t", "x"))
    labels = [text for text in svg.iter("text") if text.attrib["class"].startswith("end")]
    heights = [float(text.attrib["y"]) for text in labels]
    assert [text.text for text in labels] == [band.name for band in bands]
    assert all(low - high >= 16.9 for low, high in pairwise(heights))
    assert min(heights) > 0
    assert max(heights) < float(svg.attrib["viewBox"].split()[3])
    assert "s0 again" in labels[6].attrib["class"]
    assert labels[12].attrib["class"] == "end s0"


def test_a_long_name_leaves_room_for_the_bands():
    ((_, _, width, _),) = drawn(stack_chart([0, 1], [Band("x" * 200, [1.0])], "t", "x"), 0)
    assert width > 100


@pytest.mark.parametrize("share", [-0.1, math.nan])
def test_what_is_no_share_is_refused(share):
    with pytest.raises(ValueError, match="negative or not-a-number"):
        stack_chart([0, 1], [Band("a", [share])], "t", "x")

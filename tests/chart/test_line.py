"""The line chart is well-formed, keeps every point, breaks at what is not finite, and never lets labels collide."""

import math
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.chart.line import HEIGHT, WIDTH, Mark, Series, line_chart, spread


def parse(svg: str) -> ET.Element:
    return ET.fromstring(svg)


def paths(svg: str) -> list[str]:
    return [path.attrib["d"] for path in parse(svg).iter("path")]


def test_every_point_is_drawn_within_the_picture():
    svg = line_chart([Series("a", range(50), [math.sin(i) for i in range(50)])], "t", "x", "y")
    (path,) = paths(svg)
    points = re.findall(r"([\d.]+) ([\d.]+)", path)
    assert len(points) == 50
    assert all(0 <= float(x) <= WIDTH and 0 <= float(y) <= HEIGHT for x, y in points)
    assert path.count("M") == 1


@pytest.mark.parametrize("gap", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_breaks_the_line(gap):
    (path,) = paths(line_chart([Series("a", range(5), [1, 2, gap, 4, 5])], "t", "x", "y"))
    assert (path.count("M"), path.count("L")) == (2, 2)
    assert "nan" not in path
    assert "inf" not in path


def test_a_logarithmic_axis_breaks_at_zero():
    (path,) = paths(line_chart([Series("a", range(5), [1, 10, 0, 100, 1000])], "t", "x", "y", log=True))
    assert (path.count("M"), path.count("L")) == (2, 2)


def test_a_lone_point_is_seen():
    svg = line_chart([Series("a", [1], [2.0]), Series("b", range(3), [1, math.nan, 1])], "t", "x", "y")
    assert len(list(parse(svg).iter("circle"))) == 3


@pytest.mark.parametrize("series", [[], [Series("a", [], [])], [Series("a", [1, 2], [math.nan, math.nan])]])
def test_nothing_to_draw_is_still_a_picture(series):
    assert parse(line_chart(series, "t", "x", "y")).tag == "svg"


def test_it_can_be_read_without_eyes():
    svg = parse(line_chart([Series("train", [0, 1], [4.0, 2.5])], "Loss", "step", "nats"))
    assert svg.attrib["role"] == "img"
    assert svg.findtext("title") == "Loss"
    assert "train: 4 at first, 2.5 at last" in svg.findtext("desc")


def test_names_are_escaped():
    nasty = '<script>&"'
    svg = line_chart(
        [Series(nasty, [0, 1], [1, 2]), Series("b", [0], [1])], nasty, nasty, nasty, marks=[Mark(0, nasty)]
    )
    assert "<script>" not in svg
    texts = [text.text for text in parse(svg).iter("text")]
    assert sum(nasty in text for text in texts) == 4


def test_faint_lines_have_no_label():
    faint = Series("each step", [0, 1], [1, 2], style="faint")
    svg = line_chart(
        [faint, Series("train", [0, 1], [1, 2.0]), Series("code", [0, 1], [3, 4.04])], "t", "x", "y"
    )
    ends = [text.text for text in parse(svg).iter("text") if text.attrib["class"].startswith("end")]
    assert ends == ["train 2.00", "code 4.04"]


@given(st.lists(st.floats(0, 100), max_size=6))
def test_labels_keep_apart_in_order_and_inside(places):
    moved = spread(places, 15, 0, 100)
    ordered = [moved[i] for i in sorted(range(len(places)), key=lambda i: places[i])]
    assert all(-1e-9 <= place <= 100 + 1e-9 for place in ordered)
    assert all(below - above >= 15 - 1e-9 for above, below in pairwise(ordered))


def test_labels_that_are_apart_stay_where_they_are():
    assert spread([80.0, 10.0, 40.0], 15, 0, 100) == [80.0, 10.0, 40.0]

"""A histogram counts every value once, cuts exactly at its thresholds, and stays readable at the edges."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from danlu.chart.histogram import HEIGHT, WIDTH, Cut, _axis, _edges, histogram


def parts(svg: str, kind: str, name: str) -> list[dict[str, str]]:
    return [one.attrib for one in ET.fromstring(svg).iter(kind) if one.attrib.get("class") == name]


def texts(svg: str, name: str) -> list[str | None]:
    return [one.text for one in ET.fromstring(svg).iter("text") if one.attrib["class"] == name]


VALUES = np.random.default_rng(7).gamma(2.0, 1.0, 5000)


def test_what_lies_beyond_is_lost():
    svg = histogram(VALUES, "t", [Cut(1.0, "least", "min_x"), Cut(4.0, "most", "max_x")])
    kept, lost = parts(svg, "rect", "bar"), parts(svg, "rect", "bar lost")
    assert kept
    assert lost
    marks = [float(mark["x1"]) for mark in parts(svg, "line", "mark")]
    lefts = [float(bar["x"]) for bar in kept]
    assert min(lefts) == pytest.approx(marks[0], abs=0.1)
    assert all(float(bar["x"]) >= marks[1] - 0.1 or float(bar["x"]) < marks[0] for bar in lost)
    assert texts(svg, "mark-name") == ["min_x 1", "max_x 4"]


def test_a_threshold_is_an_edge_and_its_own_value_is_kept():
    values = np.array([1.0, 2.0, 2.0, 3.0, 4.0])
    cuts = [Cut(2.0, "most", "max_x")]
    edges = _edges(_axis(values, cuts), cuts)
    assert np.nextafter(2.0, np.inf) in edges
    assert np.all(np.diff(edges) > 0)
    svg = histogram(values, "t", cuts)
    assert len(parts(svg, "rect", "bar")) == 2
    assert len(parts(svg, "rect", "bar lost")) == 2


@pytest.mark.parametrize(
    "values",
    [
        np.array([0.5]),
        np.zeros(10),
        np.array([0.0] * 90 + [1e6]),
        np.array([-3.0, 0.0, 5.0]),
        np.geomspace(1, 1e7, 200),
        np.array([1e-9, 2e-9]),
    ],
    ids=["one", "zeros", "far", "negative", "decades", "tiny"],
)
@pytest.mark.parametrize("cut", [0.0, 0.3, 50.0, 1e9])
def test_it_is_a_picture_whatever_the_values(values: np.ndarray, cut: float):
    svg = histogram(values, "<t>", [Cut(cut, "most", "max_<x>"), Cut(cut / 2, "least", "min_x")])
    assert ET.fromstring(svg).findtext("title") == "<t>"
    bars = parts(svg, "rect", "bar") + parts(svg, "rect", "bar lost")
    assert bars
    for bar in bars:
        assert 0 <= float(bar["x"]) <= WIDTH
        assert 0 < float(bar["y"]) < HEIGHT
        assert float(bar["width"]) >= 0
        assert float(bar["height"]) > 0


def test_a_threshold_far_outside_is_named_at_the_edge():
    svg = histogram(np.linspace(0, 1, 50), "t", [Cut(1000.0, "most", "max_x")])
    assert not parts(svg, "line", "mark")
    assert texts(svg, "mark-name") == ["max_x 1K →"]


def test_decades_get_a_logarithmic_axis_that_reaches_the_threshold():
    axis = _axis(np.geomspace(10, 1e5, 999), [Cut(1e7, "most", "max_x")])
    assert axis.log
    assert axis.high > 1e7
    assert not _axis(np.linspace(0, 1, 99), []).log


def test_words():
    svg = ET.fromstring(histogram(VALUES, "Words", [Cut(1.0, "least", "min_x")]))
    said = svg.findtext("desc")
    assert said is not None
    assert said.startswith("5,000 values, half of them below")
    assert said.endswith("min_x: kept from 1 on")

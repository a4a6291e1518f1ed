"""The page of a scorer: every part is drawn from the card, and nothing of it can act."""

import pytest

from danlu.scorers.curve import page_sections, write_curve_page
from danlu.scorers.model_file import CurveCard, SourceCard
from small_scorers import small_scorer


@pytest.mark.parametrize("scale", ["binary", "0-5"])
def test_the_page_has_every_part(tmp_path, scale):
    card = small_scorer(scale=scale, positive="drop").card
    path = tmp_path / "curve.html"
    write_curve_page(path, card)
    text = path.read_text(encoding="utf-8")
    assert text.count("<svg") == 3
    for said in (
        "Precision and recall",
        "Scores of both sides",
        "made.jsonl",
        card.weights_sha256,
        "no text",
    ):
        assert said in text
    assert "a high score is dropped" in text
    assert "nan" not in text
    write_curve_page(tmp_path / "again.html", card)
    assert (tmp_path / "again.html").read_bytes() == path.read_bytes()


def test_one_score_for_all_has_no_curve():
    card = small_scorer().card
    bins = card.curve.positive_bins
    flat = CurveCard(
        thresholds=(0.5,), precision=(0.5,), recall=(1.0,), positive_bins=bins, negative_bins=bins
    )
    sections = page_sections(card.model_copy(update={"curve": flat}))
    assert "same score" in sections[1].body


def test_names_are_escaped(tmp_path):
    card = small_scorer().card
    data = card.data.model_copy(update={"sources": (SourceCard(name="<script>x", examples=1),)})
    write_curve_page(tmp_path / "a.html", card.model_copy(update={"data": data}))
    assert "<script>" not in (tmp_path / "a.html").read_text(encoding="utf-8")

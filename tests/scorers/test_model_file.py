"""The file of a scorer: the same bytes, the same scores, and refused where anything does not fit."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import save

from danlu.errors import DamagedError, InputError, MissingError
from danlu.scorers.features import extract_features
from danlu.scorers.model_file import Scorer, checksum, load_scorer, save_scorer, score_row, score_text
from small_scorers import small_scorer

TEXTS = ["the river in the night", "home login cart", "", " \n", "河水", "\ud800", "x" * 2000]


@pytest.fixture(scope="module")
def scorer():
    return small_scorer(name="quality")


def test_what_was_saved_comes_back(scorer, tmp_path):
    save_scorer(tmp_path / "a.safetensors", scorer)
    save_scorer(tmp_path / "b.safetensors", small_scorer(name="quality"))
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    again = load_scorer(tmp_path / "a.safetensors")
    assert again.card == scorer.card
    assert np.array_equal(again.weights, scorer.weights)
    for text in TEXTS:
        assert score_text(text, again) == pytest.approx(score_text(text, scorer), nan_ok=True)


@pytest.mark.parametrize("text", TEXTS)
def test_the_score_is_the_formula(scorer, text):
    row = extract_features(text, scorer.card.features)
    found = score_text(text, scorer)
    if not text.strip():
        assert math.isnan(found)
        return
    linear = sum(
        float(scorer.weights[bucket]) * float(value) for bucket, value in zip(*row, strict=True)
    ) + float(scorer.weights[-1])
    assert found == pytest.approx(1 / (1 + math.exp(-linear)))
    assert score_row(row, scorer.weights, "0-5") == pytest.approx(min(max(linear, 0), 5))


def rewrite(scorer, path, weights=None, **card):
    described = {**json.loads(scorer.card.model_dump_json()), **card}
    data = {"weights": scorer.weights if weights is None else weights}
    path.write_bytes(save(data, {"danlu_scorer": json.dumps(described)}))
    return path


def test_what_does_not_fit_is_refused(scorer, tmp_path):
    path = tmp_path / "a.safetensors"
    with pytest.raises(MissingError, match="train-classifier"):
        load_scorer(path)
    for data in (b"", b"not a file of tensors", save({"weights": scorer.weights})[:-9]):
        path.write_bytes(data)
        with pytest.raises(DamagedError, match="damaged"):
            load_scorer(path)
    path.write_bytes(save({"embedding": np.zeros(3)}))
    with pytest.raises(InputError, match=r"no scorer of danlu.*embedding"):
        load_scorer(path)
    changed = scorer.weights.copy()
    changed[7] += 1
    broken = np.full_like(scorer.weights, np.nan)
    cases = [
        ("not those of its card", {"weights": changed}),
        ("not those of its card", {"weights": broken, "weights_sha256": checksum(broken)}),
        ("its card says float32", {"weights": scorer.weights[:-1]}),
        ("its card says float32", {"weights": scorer.weights.astype(np.float64)}),
        ("format", {"format": 2}),
        ("does not fit this version", {"surprise": 1}),
    ]
    for said, keys in cases:
        with pytest.raises(DamagedError, match=said):
            load_scorer(rewrite(scorer, path, **keys))
    path.write_bytes(save({"weights": scorer.weights}, {"danlu_scorer": "{"}))
    with pytest.raises(DamagedError, match="card"):
        load_scorer(path)


def test_no_torch_is_loaded(scorer, tmp_path):
    save_scorer(tmp_path / "a.safetensors", scorer)
    code = (
        "import sys; from pathlib import Path; from danlu.scorers.model_file import load_scorer; "
        f"load_scorer(Path({str(tmp_path / 'a.safetensors')!r})); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_far_scores_stay_in_range(scorer):
    heavy = Scorer(np.full_like(scorer.weights, 1e6), scorer.card)
    assert score_text("river", heavy) == 1.0
    assert score_text("river", Scorer(-heavy.weights, scorer.card)) == 0.0

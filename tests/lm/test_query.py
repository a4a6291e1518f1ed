"""Queries against recursive back-off and against KenLM on the same files."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from danlu.errors import InputError, MissingError
from danlu.lm.query import BINARY_MAGIC, load_model, load_part, perplexity, text_perplexity
from danlu.lm.tokens import cut
from danlu.lm.train import train_lm
from danlu.words.text import encode
from small_models import ARPA, read_slowly, score_slowly, sentences

GAPS = ARPA.replace("-0.5\ta 字\t-0.25\n", "").replace("ngram 2=4", "ngram 2=3")
NO_UNKNOWN = ARPA.replace("-1.5\t<unk>\t0\n", "").replace("ngram 1=5", "ngram 1=4")
LINES = ["a", "字", "a a", "a 字", "字 a 字", "a 字 a 字 a", "b", "a b 字", "<unk> a", "a a a 字 字 a b b a"]


def model_of(tmp_path, text):
    (tmp_path / "m.arpa").write_text(text, encoding="utf-8")
    return load_model(tmp_path / "m.arpa")


def scores(model, lines):
    return model.score(cut(encode("\n".join(lines)), "spaces")).tolist()


@pytest.mark.parametrize("text", [ARPA, GAPS, NO_UNKNOWN])
def test_scores_are_those_of_recursive_back_off(tmp_path, text):
    grams = read_slowly(text)
    model = model_of(tmp_path, text)
    assert model.gaps == (text == GAPS)
    assert scores(model, LINES) == pytest.approx([score_slowly(grams, 3, line) for line in LINES], abs=1e-4)


@pytest.mark.parametrize("prune", [(0,), (0, 0, 1)])
def test_a_part_scores_its_texts_as_the_whole_does(tmp_path, prune):
    train_lm(["\n".join(sentences(500))], tmp_path / "m.arpa", tokens="spaces", prune=prune)
    whole = load_model(tmp_path / "m.arpa")
    lines = [*sentences(5, seed=5), "never seen", "w1 w2 never w3", "w1", "<s> w1 </s> w2 <unk>", "字 👍"]
    texts = [cut(encode(text), "spaces") for text in ["\n".join(lines), "", " \n", "w9 " * 300, "\ud800"]]
    part = load_part(tmp_path / "m.arpa", texts)
    assert len(part.table.keys) < len(whole.table.keys)
    for text in texts:
        assert part.score(text).tolist() == whole.score(text).tolist()
    assert np.count_nonzero(load_part(tmp_path / "m.arpa", []).table.keys) == 3


def with_room(text):
    """KenLM has no place for missing n-grams in a model of this size: twenty more pairs give it some."""
    words = "".join(f"-1\tp{number}\t0\n" for number in range(20))
    pairs = "".join(f"-1\tp{number} p{number}\t0\n" for number in range(20))
    text = text.replace("1=5", "1=25").replace("2=3", "2=23")
    return text.replace("\n\\2-", f"{words}\n\\2-").replace("\n\\3-", f"{pairs}\n\\3-")


@pytest.mark.parametrize("text", [ARPA, with_room(GAPS), NO_UNKNOWN])
def test_scores_are_those_of_kenlm(tmp_path, capfd, text):
    kenlm = pytest.importorskip("kenlm")
    model = model_of(tmp_path, text)
    theirs = kenlm.Model(str(tmp_path / "m.arpa"))
    assert scores(model, LINES) == pytest.approx([theirs.score(line) for line in LINES], abs=1e-4)


def test_a_trained_model_scores_as_in_kenlm(tmp_path, capfd):
    kenlm = pytest.importorskip("kenlm")
    train_lm(["\n".join(sentences(500))], tmp_path / "m.arpa", tokens="spaces", prune=(0, 0, 0, 1))
    theirs = kenlm.Model(str(tmp_path / "m.arpa"))
    lines = [*sentences(200, seed=5), "never seen", "w1 w2 never w3 w4 w5 w6"]
    ours = scores(load_model(tmp_path / "m.arpa"), lines)
    assert ours == pytest.approx([theirs.score(line) for line in lines], abs=1e-4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    lines=st.lists(st.lists(st.sampled_from(["a", "字", "b", "<unk>"]), min_size=1, max_size=9), max_size=5)
)
def test_any_sentences(tmp_path, lines):
    grams = read_slowly(ARPA)
    texts = [" ".join(line) for line in lines]
    assert scores(model_of(tmp_path, ARPA), texts) == pytest.approx(
        [score_slowly(grams, 3, text) for text in texts], abs=1e-4
    )


def test_marks_written_in_a_text_are_unknown_words(tmp_path):
    model = model_of(tmp_path, ARPA)
    assert scores(model, ["a <s> </s>"]) == scores(model, ["a b b"])


def test_a_binary_model_is_read_through_kenlm(tmp_path, monkeypatch):
    kenlm = pytest.importorskip("kenlm")
    path = tmp_path / "m.binary"
    path.write_bytes(BINARY_MAGIC + b" but damaged")
    with pytest.raises(InputError, match="KenLM"):
        load_model(path)

    class Fake:
        order = 3

        def __init__(self, name):
            assert name == str(path)

        def score(self, line):
            return -float(len(line.split()))

    monkeypatch.setattr(kenlm, "Model", Fake)
    model = load_model(path)
    assert model.order == 3
    assert scores(model, ["a 字 a", "b"]) == [-3.0, -1.0]


def test_without_kenlm_a_binary_model_names_it(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "kenlm", None)
    (tmp_path / "m").write_bytes(BINARY_MAGIC)
    with pytest.raises(MissingError, match=r"ufal-kenlm.*danlu\[corpus\]"):
        load_model(tmp_path / "m")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("-0.9\t字\t-0.2", "-0.9\ta\t-0.2", "n-gram 5 of the file is there twice"),
        ("\t<s>\t", "\tx\t", "no word <s>"),
    ],
)
def test_models_that_contradict_themselves_are_refused(tmp_path, old, new, said):
    with pytest.raises(InputError, match=said):
        model_of(tmp_path, ARPA.replace(old, new))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(MissingError, match="train-lm"):
        load_model(tmp_path / "none")


def test_perplexity_is_ccnets(tmp_path):
    model = model_of(tmp_path, ARPA)
    found = text_perplexity(model, cut(encode("a 字\n\na\n"), "spaces"))
    grams = read_slowly(ARPA)
    log10 = score_slowly(grams, 3, "a 字") + score_slowly(grams, 3, "a")
    assert found == pytest.approx(10 ** (-log10 / (3 + 2)), rel=1e-4)
    assert np.isnan(perplexity(0.0, 0, 0))
    assert np.isnan(text_perplexity(model, cut(encode(" \n"), "spaces")))
    assert np.isfinite(perplexity(-1e9, 1, 1))

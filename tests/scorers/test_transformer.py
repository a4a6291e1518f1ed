"""Transformers from local directories: every kind of head against its own logits, and what is refused."""

import json
import math

import pytest
import torch
from transformers import (
    BertForSequenceClassification,
    BertModel,
    GPT2Config,
    GPT2ForSequenceClassification,
    RobertaConfig,
    RobertaForSequenceClassification,
)

from danlu.errors import InputError
from danlu.scorers.settings import Transformer
from danlu.scorers.transformer import decide, forget_files, measure
from danlu.words.text import Text
from small_transformers import SHAPE, TEXT, VOCABULARY, save_bert, save_tokenizer


@pytest.fixture(autouse=True)
def _fresh():
    forget_files()


def ids_of(text):
    return [2, *(VOCABULARY.get(word, 1) for word in text.split()), 3]


def logits_of(network, ids):
    with torch.no_grad():
        return network(input_ids=torch.tensor([ids])).logits[0]


def score(place, text=TEXT, **settings):
    document = Text(text)
    measured = measure(document, Transformer(model=str(place), **settings))
    assert measured.text is document
    return measured.values[0]


def test_a_head_of_one_output_is_the_score(tmp_path):
    network = save_bert(tmp_path, ["LABEL_0"], "regression")
    assert score(tmp_path) == pytest.approx(logits_of(network, ids_of(TEXT))[0].item(), abs=1e-6)


def test_a_named_label_is_a_probability(tmp_path):
    network = save_bert(tmp_path)
    wanted = logits_of(network, ids_of(TEXT)).softmax(-1)
    assert score(tmp_path, label="good") == pytest.approx(wanted[0].item(), abs=1e-6)
    assert score(tmp_path, label="bad") == pytest.approx(wanted[1].item(), abs=1e-6)


def test_labels_that_do_not_exclude_one_another_are_sigmoids(tmp_path):
    network = save_bert(tmp_path, ["toxic", "threat", "insult"], "multi_label_classification")
    wanted = logits_of(network, ids_of(TEXT)).sigmoid()[1].item()
    assert score(tmp_path, label="threat") == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("batch", [1, 2, 8])
def test_windows_are_averaged_and_batches_change_nothing(tmp_path, batch):
    network = save_bert(tmp_path, ["LABEL_0"])
    words = TEXT.split()
    parts = [" ".join(words[begin : begin + 6]) for begin in range(0, len(words), 6)]
    wanted = [logits_of(network, ids_of(part))[0].item() for part in parts]
    settings = {"max_tokens": 8, "batch": batch}
    assert score(tmp_path, **settings) == pytest.approx(wanted[0], abs=1e-5)
    assert score(tmp_path, windows=2, **settings) == pytest.approx(sum(wanted[:2]) / 2, abs=1e-5)
    assert score(tmp_path, windows=50, **settings) == pytest.approx(sum(wanted) / len(wanted), abs=1e-5)


def test_no_window_is_longer_than_the_positions(tmp_path):
    save_bert(tmp_path, ["LABEL_0"], most=10)
    assert math.isfinite(score(tmp_path, TEXT * 40))
    kin = tmp_path / "roberta"
    torch.manual_seed(7)
    config = RobertaConfig(
        vocab_size=40, max_position_embeddings=12, pad_token_id=0, num_labels=1, type_vocab_size=1, **SHAPE
    )
    RobertaForSequenceClassification(config).save_pretrained(kin)
    save_tokenizer(kin)
    assert math.isfinite(score(kin, TEXT * 40))


def test_a_network_without_padding_scores_window_by_window(tmp_path):
    torch.manual_seed(7)
    config = GPT2Config(vocab_size=40, n_embd=16, n_layer=1, n_head=2, n_positions=32, num_labels=1)
    config.pad_token_id = None
    GPT2ForSequenceClassification(config).save_pretrained(tmp_path)
    save_tokenizer(tmp_path)
    assert math.isfinite(score(tmp_path, TEXT * 3, windows=3, max_tokens=16))


@pytest.mark.parametrize(
    "text", ["河 水 上 涨", "the \ud800 river", "the\r\nriver\0rose", "🙂", "x" * 100_000]
)
def test_odd_texts_have_a_score(tmp_path, text):
    save_bert(tmp_path)
    assert 0.0 <= score(tmp_path, text, label="good") <= 1.0


def test_blank_texts_are_not_measured(tmp_path):
    assert math.isnan(score(tmp_path, " \n\t"))
    assert math.isnan(score(tmp_path, "", windows=3))


def test_thresholds_decide():
    both = Transformer(model="m", min_score=1.0, max_score=3.0)
    assert [decide((value,), both) for value in (0.9, 1.0, 3.0, 3.1, math.nan)] == [
        *("below_score", "", "", "above_score", "")
    ]
    assert decide((-9.0,), Transformer(model="m")) == ""


def test_a_file_of_the_directory_does_not_stand_for_it(tmp_path):
    save_bert(tmp_path)
    with pytest.raises(InputError, match=r"config\.json is a file; name a local directory"):
        score(tmp_path / "config.json", label="bad")


def test_a_directory_that_changed_is_read_anew(tmp_path):
    save_bert(tmp_path, ["LABEL_0"])
    before = score(tmp_path)
    network = BertForSequenceClassification.from_pretrained(tmp_path)
    with torch.no_grad():
        network.classifier.bias += 5.0
    network.save_pretrained(tmp_path)
    forget_files()
    assert score(tmp_path) == pytest.approx(before + 5.0, abs=1e-4)


def test_a_head_that_is_not_there_is_refused_not_made_up(tmp_path):
    save_bert(tmp_path, make=BertModel)
    with pytest.raises(InputError, match="lack 2 tensors of its network"):
        score(tmp_path, label="good")


def test_weights_that_may_hold_code_are_not_read(tmp_path):
    save_bert(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"no weights in safetensors; pytorch_model\.bin may hold code"):
        score(tmp_path, label="good")


def test_code_of_the_directory_is_not_run(tmp_path):
    save_bert(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["auto_map"] = {"AutoModelForSequenceClassification": "mine.Network"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "mine.py").write_text("raise SystemExit('run')")
    with pytest.raises(InputError, match="code of its own"):
        score(tmp_path, label="good")


@pytest.mark.parametrize(
    ("labels", "label", "message"),
    [
        (("good", "bad"), "", "needs one; its labels are good, bad"),
        (("good", "bad"), "ugly", "has no 'ugly'; its labels are good, bad"),
        (("LABEL_0",), "good", "has one output"),
    ],
)
def test_labels_are_named_rightly(tmp_path, labels, label, message):
    save_bert(tmp_path, labels)
    with pytest.raises(InputError, match=message):
        score(tmp_path, label=label)


@pytest.mark.parametrize("content", [None, "{", "[1]", '{"model_type": "nobody-knows"}'])
def test_what_is_no_model_is_refused(tmp_path, content):
    save_bert(tmp_path)
    if content is None:
        (tmp_path / "config.json").unlink()
    else:
        (tmp_path / "config.json").write_text(content)
    with pytest.raises(InputError, match=r"transformer\.model"):
        score(tmp_path, label="good")


def test_a_damaged_file_is_refused(tmp_path):
    save_bert(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 64)
    with pytest.raises(InputError, match="cannot be read"):
        score(tmp_path, label="good")

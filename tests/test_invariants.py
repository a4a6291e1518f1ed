"""Invariants 2, 9 and 10 over one run that went the whole road: from its text to its export.

2: another micro-batch, the same tokens and losses. 9: BOS, EOS, pad and the size of the vocabulary are the same
everywhere, or an error says where not. 10: the export opens in plain `transformers`, with the same logits and ids.
"""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM, AutoTokenizer

from danlu.checkpoint.load import load
from danlu.errors import DamagedError, DanluError, MismatchError
from danlu.export.card import CardInfo
from danlu.export.huggingface import export_model
from danlu.monitor.history import read_metrics
from danlu.recipe import parse
from danlu.shards.documents import list_shards
from danlu.shards.shard import open_shard, read_header
from danlu.tokenizer.codec import Codec
from danlu.tokens.batches import Batches
from danlu.train.assemble import open_data
from danlu.train.session import Session, open_session
from danlu.workflow.run import load_run, open_run
from danlu.workflow.stages import run_all
from small_run import recipe_and_plan, tables, write_texts

STEPS = 5
NASTY = (
    "",
    " ",
    "\n\n\t  two  spaces,   three   spaces \r\n",
    "<|begin_of_text|> and <|end_of_text|> and <|pad|> are words here",
    "e\u0301 \u00e9 \ufb01 \u200b\u00a0\ufeff \x00\x07\x1b[0m",
    "丹炉炼字 Привет שלום नमस्ते 👩‍🔬👍🏽",
    'don\'t 12345.678 [[0]](1)\\n "quoted" __init__  ',
    "a" * 300,
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a run of five steps, all its stages done."""
    base = tmp_path_factory.mktemp("invariants")
    write_texts(base)
    run = open_run(parse(tables(train__steps=STEPS, train__device="cpu")), base, base / "runs")
    run_all(run)
    return run.directory


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished run that a test may damage."""
    shutil.copytree(finished, tmp_path / "small")
    return tmp_path / "small"


def session_of(run: Path) -> Session:
    return open_session(load_run(run).recipe, run)


def shards_of(run: Path) -> list[Path]:
    return [shard for folder in sorted((run / "tokens").glob("*/*")) for shard in list_shards(folder)]


def data_of(run: Path) -> Batches:
    recipe, plan = recipe_and_plan(run)
    return open_data(recipe, run, Codec.load(run / "tokenizer" / "tokenizer.json"), plan.stages)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


# ---- invariant 2


def test_invariant_2_another_micro_batch_gives_the_same_tokens_and_losses(
    finished: Path, tmp_path: Path
) -> None:
    def run_with(micro_batch: int) -> tuple[list[list[int]], list[tuple[float, float]], int]:
        """The token stream, loss and gradient norm of every step, and the micro-batches a step."""
        name = f"micro-{micro_batch}"
        recipe = tables(train__steps=STEPS, train__device="cpu", train__micro_batch=micro_batch) | {
            "name": name
        }
        run = open_run(parse(recipe), finished.parents[1], tmp_path)
        run_all(run)
        saved, plan = recipe_and_plan(run.directory)
        codec = Codec.load(run.directory / "tokenizer" / "tokenizer.json")
        stream = open_data(saved, run.directory, codec, plan.stages).batch(0, STEPS * plan.batch_tokens // 64)
        rows = [(row["loss"], row["grad_norm"]) for row in read_metrics(run.directory)]
        return stream.inputs.tolist(), rows, plan.accumulation

    one, four = run_with(8), run_with(2)
    assert (one[2], four[2]) == (1, 4)
    assert one[0] == four[0]
    assert len(one[1]) == STEPS
    np.testing.assert_allclose(one[1], four[1], atol=1e-5, rtol=0)


# ---- invariant 9


def test_invariant_9_special_tokens_and_vocabulary_agree_everywhere(finished: Path) -> None:
    tokenizer = Tokenizer.from_file(str(finished / "tokenizer" / "tokenizer.json"))
    names = ("<|begin_of_text|>", "<|end_of_text|>", "<|pad|>")
    bos, eos, pad = (tokenizer.token_to_id(name) for name in names)
    size = tokenizer.get_vocab_size()
    assert None not in (bos, eos, pad)
    assert len({bos, eos, pad}) == 3

    shards = shards_of(finished)
    assert len(shards) == 4
    for path in shards:
        header, shard = read_header(path), open_shard(path)
        assert (header.bos_id, header.eos_id, header.vocab_size) == (bos, eos, size)
        assert set(shard.ids[shard.offsets[:-1]].tolist()) == {bos}
        assert set(shard.ids[shard.offsets[1:] - 1].tolist()) == {eos}
        assert (shard.ids == bos).sum() == (shard.ids == eos).sum() == len(shard.byte_counts)
        assert pad not in shard.ids
        assert shard.ids.max() < size

    session = session_of(finished)
    assert (session.codec.bos_id, session.codec.eos_id, session.codec.pad_id) == (bos, eos, pad)
    assert session.codec.vocab_size == session.shape.vocab_size == size
    assert len(load(finished / "checkpoints").tensors["model"]["embedding.weight"]) == size

    export = finished / "export"
    ids = {"bos_token_id": bos, "eos_token_id": eos, "pad_token_id": pad}
    config, generation = read(export / "config.json"), read(export / "generation_config.json")
    assert ids.items() <= config.items()
    assert ids.items() <= generation.items()
    assert config["vocab_size"] == size
    with safe_open(export / "model.safetensors", framework="numpy") as weights:
        assert weights.get_slice("model.embed_tokens.weight").get_shape()[0] == size
    written = read(export / "tokenizer_config.json")
    assert tuple(written[f"{kind}_token"] for kind in ("bos", "eos", "pad")) == names
    exported = Tokenizer.from_file(str(export / "tokenizer.json"))
    assert exported.get_vocab() == tokenizer.get_vocab()
    assert [exported.token_to_id(name) for name in names] == [bos, eos, pad]


def test_invariant_9_padding_of_a_batch_is_the_pad_token(finished: Path) -> None:
    recipe, plan = recipe_and_plan(finished)
    codec = Codec.load(finished / "tokenizer" / "tokenizer.json")
    batch = open_data(recipe, finished, codec, plan.stages).batch(0, 200)
    padding = batch.documents < 0
    assert padding.any()
    assert set(batch.inputs[padding].tolist()) == {codec.pad_id}
    assert codec.pad_id not in batch.inputs[~padding]
    assert codec.bos_id not in batch.labels
    assert codec.pad_id not in batch.labels


def swap_names(run: Path, one: str, other: str) -> None:
    """Gives two special tokens of the run's tokenizer each other's ids."""
    path = run / "tokenizer" / "tokenizer.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(one, "<||>").replace(other, one).replace("<||>", other), encoding="utf-8")


def grow(run: Path) -> None:
    """One more token in the run's tokenizer."""
    path = run / "tokenizer" / "tokenizer.json"
    value = read(path)
    value["model"]["vocab"]["unheard-of"] = len(value["model"]["vocab"])
    path.write_text(json.dumps(value), encoding="utf-8")


def forget(run: Path) -> None:
    """The run's tokenizer without an end of text."""
    path = run / "tokenizer" / "tokenizer.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("<|end_of_text|>", "<|another|>"), encoding="utf-8")


def edit_header(path: Path, **changes: str) -> None:
    """Changes what a safetensors file says of itself."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header["__metadata__"] |= changes
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])


TOKENIZERS: dict[str, Callable[[Path], None]] = {
    "bos and eos swapped": lambda run: swap_names(run, "<|begin_of_text|>", "<|end_of_text|>"),
    "eos and pad swapped": lambda run: swap_names(run, "<|end_of_text|>", "<|pad|>"),
    "one token more": grow,
    "no eos": forget,
}


@pytest.mark.parametrize("what", TOKENIZERS)
def test_invariant_9_another_tokenizer_than_the_shards_and_the_checkpoint_is_an_error(
    copy: Path, what: str
) -> None:
    TOKENIZERS[what](copy)
    with pytest.raises(
        DanluError, match=r"tokenizer\.json (is not the tokenizer that step 5|has no end-of-text)"
    ):
        session_of(copy)
    with pytest.raises(
        DanluError, match=r"shard-00000.* was written with another tokenizer|has no end-of-text"
    ):
        data_of(copy)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("vocab_size", "321"),
        ("tokenizer_sha256", "0" * 64),
        ("bos_id", "1"),
        ("eos_id", "0"),
    ],
)
def test_invariant_9_a_shard_header_that_disagrees_is_an_error(copy: Path, key: str, value: str) -> None:
    shard = list_shards(copy / "tokens" / "train" / "code")[0]
    edit_header(shard, **{key: value})
    with pytest.raises(MismatchError, match=f"{shard} was written with another tokenizer"):
        data_of(copy)


@pytest.mark.parametrize("which", ["first", "last"])
def test_invariant_9_a_shard_without_its_bos_or_eos_is_an_error(copy: Path, which: str) -> None:
    shard = list_shards(copy / "tokens" / "train" / "code")[0]
    data, ids = shard.read_bytes(), open_shard(shard).ids.tobytes()
    at = data.index(ids) + (0 if which == "first" else len(ids) - 2)
    shard.write_bytes(data[:at] + b"\x63" + data[at + 1 :])
    with pytest.raises(DamagedError, match=str(shard)):
        data_of(copy)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("config.json", "vocab_size"),
        ("config.json", "bos_token_id"),
        ("generation_config.json", "eos_token_id"),
        ("generation_config.json", "pad_token_id"),
        ("tokenizer_config.json", "bos_token"),
        ("tokenizer.json", "added_tokens"),
    ],
)
def test_invariant_9_an_export_that_was_changed_is_named_and_made_again(
    copy: Path, capsys: pytest.CaptureFixture[str], name: str, key: str
) -> None:
    path = copy / "export" / name
    before = path.read_bytes()
    path.write_text(json.dumps(read(path) | {key: 7}), encoding="utf-8")
    run_all(load_run(copy))
    assert f"export: redone because output {name} is damaged" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_invariant_9_weights_of_another_vocabulary_are_not_exported(copy: Path) -> None:
    session = session_of(copy)
    grow(copy)
    card = CardInfo("small", parameters=1, tokens=1, steps=1, sequence_length=64)
    path = copy / "tokenizer" / "tokenizer.json"
    with pytest.raises(MismatchError, match=r"tokenizer\.json has 321 tokens, the model 320"):
        export_model(copy / "elsewhere", session.shape, session.hf_tensors(), path, card, session.logits)
    assert not (copy / "elsewhere").exists()


# ---- invariant 10


def test_invariant_10_plain_transformers_gives_the_same_logits(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished / "export", tmp_path / "alone")
    session = session_of(finished)
    model, loading = AutoModelForCausalLM.from_pretrained(
        tmp_path / "alone", local_files_only=True, trust_remote_code=False, output_loading_info=True
    )
    assert not any(loading.values()), loading
    assert type(model).__module__.startswith("transformers.")
    rows = [np.random.default_rng(3).integers(0, session.shape.vocab_size, 64)]
    rows += [np.array([session.codec.bos_id, *session.codec.encode(text)][:64]) for text in NASTY]
    for ids in rows:
        ours = session.logits(ids)
        with torch.inference_mode():
            theirs = model(torch.from_numpy(ids)[None]).logits[0].numpy()
        assert theirs.shape == ours.shape == (len(ids), session.shape.vocab_size)
        np.testing.assert_allclose(theirs, ours, atol=1e-4, rtol=0)
    untrained = open_session(load_run(finished).recipe, finished, step=0)
    assert np.abs(untrained.logits(rows[0]) - session.logits(rows[0])).max() > 1e-2


def test_invariant_10_plain_transformers_reads_text_as_the_run_does(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished / "export", tmp_path / "alone")
    codec = session_of(finished).codec
    tokenizer = AutoTokenizer.from_pretrained(
        tmp_path / "alone", local_files_only=True, trust_remote_code=False
    )
    assert type(tokenizer).__module__.startswith("transformers.")
    assert len(tokenizer) == codec.vocab_size
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id) == (
        codec.bos_id,
        codec.eos_id,
        codec.pad_id,
    )
    for text in NASTY:
        ids = tokenizer(text)["input_ids"]
        assert ids == [codec.bos_id, *codec.encode(text)]
        assert tokenizer.decode(ids, skip_special_tokens=True) == text


def test_invariant_10_an_export_carries_no_code_and_no_pickle(finished: Path) -> None:
    export = finished / "export"
    assert {path.suffix for path in export.iterdir()} == {".json", ".md", ".safetensors"}
    for name in ("config.json", "tokenizer_config.json"):
        assert "auto_map" not in read(export / name)

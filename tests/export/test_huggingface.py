"""An export opens in plain `transformers` with the same logits and the same tokenisation; what disagrees is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, AutoTokenizer

from danlu.attention.contract import make_attention
from danlu.attention.sdpa import attend
from danlu.errors import DanluError, MismatchError, UsageError
from danlu.export import huggingface
from danlu.export.card import CardInfo
from danlu.export.huggingface import REPORT, export_model
from danlu.export.tokenizer import PROBES
from danlu.model.init import initialise
from danlu.model.naming import to_huggingface
from danlu.model.network import Network
from danlu.model.shape import Shape
from danlu.tokenizer.codec import SPECIAL_TOKENS, Codec

SHAPE = Shape(
    vocab_size=320,
    width=48,
    layers=2,
    heads=6,
    kv_heads=2,
    head_width=8,
    ffn_width=80,
    tie_embeddings=True,
    qk_norm=True,
    norm_epsilon=1e-5,
    rope_theta=500.0,
)
CARD = CardInfo("tiny", parameters=1, tokens=10, steps=1, sequence_length=64)


@pytest.fixture(scope="module")
def tokenizer_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SHAPE.vocab_size,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([Path(json.__file__).read_text(encoding="utf-8")], trainer)
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def make_network(shape: Shape) -> Network:
    network = Network(shape, attend)
    initialise(network, seed=5)
    with torch.no_grad():
        # Gains of one, as they begin, would hide a gain that is read from the wrong place.
        for number, parameter in enumerate(network.parameters()):
            generator = torch.Generator().manual_seed(number)
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.ndim == 1:
                parameter.add_(0.3 * noise)
            else:
                parameter.copy_(noise * 0.2)
    return network.eval()


def logits_of(network: Network, ids: np.ndarray) -> np.ndarray:
    rows = torch.from_numpy(ids)[None]
    attention = make_attention(np.zeros_like(ids)[None], torch.device("cpu"))
    with torch.inference_mode():
        hidden = network(rows, torch.arange(len(ids))[None], attention)
        return (hidden[0] @ network.head_weight.T).numpy()


def export(directory: Path, shape: Shape, tokenizer_path: Path, network: Network | None = None):
    network = network or make_network(shape)
    tensors = to_huggingface(shape, network.state_dict())
    return export_model(directory, shape, tensors, tokenizer_path, CARD, lambda ids: logits_of(network, ids))


@pytest.mark.parametrize("kv_heads", [6, 2, 1])
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("qk_norm", [True, False])
def test_transformers_gives_the_same_logits(tmp_path, tokenizer_path, qk_norm, tied, kv_heads):
    shape = replace(SHAPE, qk_norm=qk_norm, tie_embeddings=tied, kv_heads=kv_heads)
    network = make_network(shape)
    report = export(tmp_path / "export", shape, tokenizer_path, network)
    assert report.architecture == ("Qwen3ForCausalLM" if qk_norm else "LlamaForCausalLM")
    assert report.max_logit_difference < 1e-4

    model, loading = AutoModelForCausalLM.from_pretrained(tmp_path / "export", output_loading_info=True)
    assert not loading["missing_keys"]
    assert not loading["unexpected_keys"]
    assert type(model).__name__ == report.architecture
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    ids = np.random.default_rng(1).integers(0, shape.vocab_size, 61)
    with torch.inference_mode():
        theirs = model(torch.from_numpy(ids)[None]).logits[0].numpy()
    ours = logits_of(network, ids)
    assert np.abs(ours).max() > 0.5
    np.testing.assert_allclose(theirs, ours, atol=1e-4, rtol=0)


@pytest.mark.parametrize("qk_norm", [True, False])
def test_transformers_reads_text_as_we_do(tmp_path, tokenizer_path, qk_norm):
    export(tmp_path / "export", replace(SHAPE, qk_norm=qk_norm), tokenizer_path)
    codec = Codec.load(tokenizer_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "export")
    forged = f"a{SPECIAL_TOKENS[1]}b {SPECIAL_TOKENS[0]}"
    for text in (*PROBES, forged):
        ids = tokenizer(text)["input_ids"]
        assert ids == [codec.bos_id, *codec.encode(text)]
        assert tokenizer.decode(ids, skip_special_tokens=True) == text
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id) == (0, 1, 2)
    assert len(tokenizer) == codec.vocab_size == SHAPE.vocab_size
    assert tokenizer.model_max_length == 64


def test_transformers_generates_and_stops(tmp_path, tokenizer_path):
    export(tmp_path / "export", SHAPE, tokenizer_path)
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "export")
    assert (model.generation_config.bos_token_id, model.generation_config.eos_token_id) == (0, 1)
    ids = model.generate(torch.tensor([[0, 70, 71]]), max_new_tokens=4, do_sample=False)
    assert ids.shape[0] == 1
    assert 4 <= ids.shape[1] <= 7


def test_report_says_what_is_there(tmp_path, tokenizer_path):
    report = export(tmp_path / "export", SHAPE, tokenizer_path)
    there = {path.name: path.stat().st_size for path in (tmp_path / "export").iterdir()}
    there.pop(REPORT)
    assert report.files == there
    assert set(there) == {
        "README.md",
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    assert json.loads((tmp_path / "export" / REPORT).read_text())["tokens_compared"] == 64
    with safe_open(tmp_path / "export" / "model.safetensors", framework="np") as file:
        assert file.metadata() == {"format": "pt"}
        assert "lm_head.weight" not in set(file.keys())


def test_wrong_weights_are_refused_and_the_earlier_export_stays(tmp_path, tokenizer_path):
    directory = tmp_path / "export"
    export(directory, SHAPE, tokenizer_path)
    before = (directory / "model.safetensors").read_bytes()
    network = make_network(SHAPE)
    tensors = to_huggingface(SHAPE, network.state_dict())
    name = "model.layers.1.self_attn.k_proj.weight"
    tensors[name] = tensors[name].flip(0)
    with pytest.raises(MismatchError, match="differ from the network's"):
        export_model(directory, SHAPE, tensors, tokenizer_path, CARD, lambda ids: logits_of(network, ids))
    assert (directory / "model.safetensors").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["export"]


def test_nan_is_refused(tmp_path, tokenizer_path):
    network = make_network(SHAPE)
    with torch.no_grad():
        network.head_weight[3, 3] = torch.nan
    with pytest.raises(MismatchError, match="nan"):
        export(tmp_path / "export", SHAPE, tokenizer_path, network)
    assert not (tmp_path / "export").exists()


@pytest.mark.parametrize("change", ["missing", "left over", "shape"])
def test_tensors_that_do_not_fit_are_named(tmp_path, tokenizer_path, change):
    network = make_network(SHAPE)
    tensors = to_huggingface(SHAPE, network.state_dict())
    if change == "missing":
        del tensors["model.norm.weight"]
    elif change == "left over":
        tensors["model.norm.bias"] = torch.zeros(48)
    else:
        tensors["model.norm.weight"] = torch.zeros(47)
    with pytest.raises(MismatchError, match=r"model\.norm"):
        export_model(
            tmp_path / "e", SHAPE, tensors, tokenizer_path, CARD, lambda ids: logits_of(network, ids)
        )


def test_another_vocabulary_is_refused(tmp_path, tokenizer_path):
    with pytest.raises(MismatchError, match="320 tokens, the model 321"):
        export(tmp_path / "e", replace(SHAPE, vocab_size=321), tokenizer_path)


def test_what_is_not_an_export_is_never_replaced(tmp_path, tokenizer_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match=r"thesis\.txt"):
        export(tmp_path, SHAPE, tokenizer_path)
    with pytest.raises(UsageError, match="is a file"):
        export(tmp_path / "thesis.txt", SHAPE, tokenizer_path)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"
    (tmp_path / "empty").mkdir()
    export(tmp_path / "empty", SHAPE, tokenizer_path)
    export(tmp_path / "empty", SHAPE, tokenizer_path)


def test_full_disk_leaves_the_earlier_export(tmp_path, tokenizer_path, monkeypatch):
    directory = tmp_path / "export"
    export(directory, SHAPE, tokenizer_path)
    before = (directory / "config.json").read_bytes()

    def no_space(*_, **__):
        raise huggingface.SafetensorError("I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(huggingface, "save_file", no_space)
    with pytest.raises(DanluError, match="No space left"):
        export(directory, SHAPE, tokenizer_path)
    assert (directory / "config.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["export"]


def test_gpt2_style_tokenizer_uses_its_end_as_beginning(tmp_path, tokenizer_path):
    tokenizer = json.loads(tokenizer_path.read_text(encoding="utf-8"))
    text = json.dumps(tokenizer).replace(SPECIAL_TOKENS[1], "<|endoftext|>")
    for name in (SPECIAL_TOKENS[0], SPECIAL_TOKENS[2]):
        text = text.replace(name, name.strip("<|>"))
    (tmp_path / "tokenizer.json").write_text(text, encoding="utf-8")
    codec = Codec.load(tmp_path / "tokenizer.json")
    assert codec.bos_id == codec.eos_id == 1
    export(tmp_path / "export", SHAPE, tmp_path / "tokenizer.json")
    ids = AutoTokenizer.from_pretrained(tmp_path / "export")("x = 1")["input_ids"]
    assert ids == [1, *codec.encode("x = 1")]


def test_the_current_folder_is_not_replaced(tmp_path, tokenizer_path, monkeypatch):
    (tmp_path / "here" / "below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here" / "below")
    for name in (".", ".."):
        with pytest.raises(UsageError, match="the folder that you are in"):
            export(Path(name), SHAPE, tokenizer_path)
    export(Path("export"), SHAPE, tokenizer_path)
    export(Path("../export"), SHAPE, tokenizer_path)
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["below", "export"]


@pytest.mark.parametrize("content", ["[]", "{", "3", '{"files": {"report.json": 1}}', '{"files": [1]}'])
def test_a_report_of_somebody_else_is_not_taken_for_ours(tmp_path, tokenizer_path, content):
    (tmp_path / REPORT).write_text(content)
    with pytest.raises(UsageError, match=r"holds report\.json"):
        export(tmp_path, SHAPE, tokenizer_path)
    assert (tmp_path / REPORT).read_text() == content


def test_what_lies_beside_the_export_is_left_alone(tmp_path, tokenizer_path):
    for name in (".tmp-hf", ".tmp-old-hf"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine").write_text("x")
    export(tmp_path / "hf", SHAPE, tokenizer_path)
    export(tmp_path / "hf", SHAPE, tokenizer_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".tmp-hf", ".tmp-old-hf", "hf"]
    (tmp_path / ".old-hf").mkdir()
    (tmp_path / ".old-hf" / "mine").write_text("x")
    with pytest.raises(UsageError, match=r"\.old-hf holds mine"):
        export(tmp_path / "hf", SHAPE, tokenizer_path)


def test_the_export_may_be_read_by_all_who_may_read_its_folder(tmp_path, tokenizer_path):
    (tmp_path / "other").mkdir()
    export(tmp_path / "hf", SHAPE, tokenizer_path)
    assert (tmp_path / "hf").stat().st_mode == (tmp_path / "other").stat().st_mode

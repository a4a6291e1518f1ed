"""The exported tokenizer adds BOS, truncates nothing, and is compared with the codec on difficult texts."""

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from danlu.errors import MismatchError
from danlu.export.tokenizer import PROBES, check_tokenizer, write_tokenizer
from danlu.tokenizer.codec import SPECIAL_TOKENS, Codec


@pytest.fixture
def source(tmp_path: Path) -> Path:
    vocabulary = {symbol: i for i, symbol in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()), 3)}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.add_special_tokens(list(SPECIAL_TOKENS))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.enable_truncation(7)
    tokenizer.enable_padding(length=9)
    path = tmp_path / "source.json"
    tokenizer.save(str(path))
    return path


def test_bos_is_added_and_nothing_is_cut_or_padded(tmp_path, source):
    codec = Codec.load(source)
    settings = write_tokenizer(source, codec, tmp_path, 32)
    exported = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    ids = exported.encode("a text of more than nine bytes").ids
    assert ids[0] == codec.bos_id
    assert len(ids) == 31
    pair = exported.encode("a", "b").ids
    assert [pair[0], pair[2]] == [codec.bos_id] * 2
    assert settings["bos_token"] == SPECIAL_TOKENS[0]
    assert settings["split_special_tokens"] is True


def test_every_probe_is_compared(tmp_path, source):
    tokenizer = json.loads(source.read_text(encoding="utf-8"))
    tokenizer["truncation"] = tokenizer["padding"] = None
    source.write_text(json.dumps(tokenizer), encoding="utf-8")
    codec = Codec.load(source)
    write_tokenizer(source, codec, tmp_path, 32)
    assert check_tokenizer(tmp_path, codec) == len(PROBES)


def test_a_tokenizer_that_reads_otherwise_is_refused(tmp_path, source):
    codec = Codec.load(source)
    write_tokenizer(source, codec, tmp_path, 32)
    tokenizer = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["pre_tokenizer"]["add_prefix_space"] = True
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    with pytest.raises(MismatchError, match="nothing was exported"):
        check_tokenizer(tmp_path, codec)


def test_another_vocabulary_is_refused(tmp_path, source):
    codec = Codec.load(source)
    write_tokenizer(source, codec, tmp_path, 32)
    codec.vocab_size += 1
    with pytest.raises(MismatchError, match="ids below"):
        check_tokenizer(tmp_path, codec)

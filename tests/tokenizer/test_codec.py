"""Encoding loses nothing, special names stay text, and files that cannot be used are refused."""

import ast
import hashlib
import inspect
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import InputError, MissingError
from danlu.tokenizer.codec import BOS, EOS, PAD, Codec

NASTY = [
    "",
    "\x00\x01\x1b\x7f",
    "a\r\nb\rc\n\n\n",
    " " * 5000 + "\t\t",
    "👩‍👩‍👧‍👦 e\u0301 \u200b\ufeff\u00a0 \ufffd \ufffe \u2028\u2029",
    "שלום العربية 한글 ᄒ","𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \U0010ffff",
    "a" * 20_000,
    f"{BOS}{EOS}{PAD}<|endoftext|></s>",
    "١٢٣ ²Ⅷ ſ K'S don'T",
]  # fmt: skip


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_lossless(codec, text):
    ids = codec.encode(text)
    assert codec.decode(ids) == text
    assert not {codec.bos_id, codec.eos_id, codec.pad_id} & set(ids)
    assert codec.token_bytes()[ids].sum() == len(text.encode())


@given(text=st.text(max_size=200))
def test_lossless_any_text(codec, text):
    ids = codec.encode(text)
    assert codec.decode(ids) == text
    assert codec.token_bytes()[ids].sum() == len(text.encode())


def test_special_ids_and_vocabulary(codec, trained):
    assert (codec.bos_id, codec.eos_id, codec.pad_id) == (0, 1, 2)
    assert codec.vocab_size == trained.vocab_size == 400
    assert codec.missing_bytes == []
    assert codec.sha256 == hashlib.sha256(trained.path.read_bytes()).hexdigest()
    assert codec.token_bytes()[:3].tolist() == [0, 0, 0]


def test_documents_are_bos_text_eos(codec):
    texts = [inspect.getsource(ast), *NASTY]
    for text, ids in zip(texts, codec.encode_documents(texts), strict=True):
        assert ids.dtype == np.uint32
        assert ids.tolist() == [codec.bos_id, *codec.encode(text), codec.eos_id]
        assert codec.decode(ids) == text


@pytest.mark.parametrize(
    "change",
    [
        {
            "pre_tokenizer": {
                "type": "ByteLevel",
                "add_prefix_space": True,
                "trim_offsets": True,
                "use_regex": True,
            }
        },
        {"normalizer": {"type": "Prepend", "prepend": "x"}},
    ],
    ids=["prefix_space", "normalizer"],
)
def test_documents_equal_encode_for_given_tokenizers_too(trained, change):
    codec = Codec.from_bytes(changed(trained, lambda description: description.update(change)), "given")
    text = inspect.getsource(ast)
    assert codec.encode_documents([text])[0][1:-1].tolist() == codec.encode(text)


def test_incomplete_utf8_decodes_to_a_replacement(codec):
    assert "\ufffd" in codec.decode(codec.encode("𝔘")[:-1])


def test_missing_file(tmp_path):
    with pytest.raises(MissingError, match="no tokenizer"):
        Codec.load(tmp_path / "tokenizer.json")
    with pytest.raises(InputError, match="directory"):
        Codec.load(tmp_path)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[]", b'{"model": 3}', b"null"])
def test_corrupt_file_is_named(tmp_path, data):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"tokenizer\.json"):
        Codec.load(path)


def test_every_cut_of_a_file_is_refused(tmp_path, trained):
    data = trained.path.read_bytes()
    for size in range(0, len(data) - 2, max(1, len(data) // 40)):
        with pytest.raises(InputError):
            Codec.from_bytes(data[:size], "cut")


def changed(trained, change):
    description = json.loads(trained.path.read_text(encoding="utf-8"))
    change(description)
    return json.dumps(description).encode()


def without(name):
    def change(description):
        description["added_tokens"] = [t for t in description["added_tokens"] if t["content"] != name]
        del description["model"]["vocab"][name]
        description["post_processor"] = None

    return change


def test_without_eos_is_refused(trained):
    with pytest.raises(InputError, match="end-of-text"):
        Codec.from_bytes(changed(trained, without(EOS)), "given")


def test_without_bos_and_pad_eos_serves(trained):
    def change(description):
        without(BOS)(description)
        without(PAD)(description)

    codec = Codec.from_bytes(changed(trained, change), "given")
    assert codec.bos_id == codec.pad_id == codec.eos_id == 1
    assert codec.encode_documents(["a"])[0][0] == 1


def test_what_would_leave_out_in_silence_is_refused(trained):
    with pytest.raises(InputError, match="leave out in silence"):
        Codec.from_bytes(changed(trained, lambda d: d.update(pre_tokenizer=None)), "given")


def test_missing_bytes_are_counted(trained):
    def change(description):
        del description["model"]["vocab"]["Ą"]

    assert Codec.from_bytes(changed(trained, change), "given").missing_bytes == ["Ą"]


def test_cutting_and_padding_of_a_given_file_are_turned_off(trained):
    def change(description):
        description["truncation"] = {
            "direction": "Right",
            "max_length": 4,
            "strategy": "LongestFirst",
            "stride": 0,
        }
        description["padding"] = {
            "strategy": {"Fixed": 64},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 2,
            "pad_type_id": 0,
            "pad_token": PAD,
        }

    text = "neither cut nor padded, whatever the file asks for"
    given, plain = Codec.from_bytes(changed(trained, change), "given"), Codec.load(trained.path)
    assert given.encode(text) == plain.encode(text)
    assert len(given.encode_documents([text])[0]) == len(plain.encode(text)) + 2

"""The tokenizer of an export: the run's own file, made to add BOS by itself, and the settings beside it.

Decides: special tokens written out in a text stay text (`split_special_tokens`), as they did in training, so that no
text can forge the end of a document. Guarantee: `check_tokenizer` proves, on texts that are easy to get wrong, that
the exported files alone give BOS + the ids of `Codec`, and the text back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, processors

from danlu.errors import MismatchError
from danlu.tokenizer.codec import Codec

PROBES = (
    "",
    " ",
    "The furnace is lit.\n\nIt  burns   slowly,\tand it's 12345.6 degrees; won't it?  \n",
    "def furnace(fire: int = 3) -> None:\n    return {'ash': [fire // 2, \"coal\"]}\r\n",
    "丹炉炼字，一字千金。 naïve café Ünïcödé Привет мир שלום नमस्ते",
    "👩‍🔬 e\u0301 \u00a0\u200b\ufeff ￼ \x00\x07",
)


def write_tokenizer(source: Path, codec: Codec, directory: Path, sequence_length: int) -> dict[str, Any]:
    """Writes tokenizer.json; returns what tokenizer_config.json says."""
    tokenizer = Tokenizer.from_file(str(source))
    bos, eos, pad = (tokenizer.id_to_token(number) for number in (codec.bos_id, codec.eos_id, codec.pad_id))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos}:0 $A:0", pair=f"{bos}:0 $A:0 {bos}:1 $B:1", special_tokens=[(bos, codec.bos_id)]
    )
    tokenizer.save(str(directory / "tokenizer.json"))
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": bos,
        "eos_token": eos,
        "pad_token": pad,
        "add_bos_token": True,
        "add_eos_token": False,
        "split_special_tokens": True,
        "clean_up_tokenization_spaces": False,
        "model_max_length": sequence_length,
        "model_input_names": ["input_ids", "attention_mask"],
    }


def check_tokenizer(directory: Path, codec: Codec) -> int:
    """Compares the exported tokenizer.json with the codec; returns how many texts agreed, or raises MismatchError."""
    exported = Tokenizer.from_file(str(directory / "tokenizer.json"))
    size = max(exported.get_vocab(with_added_tokens=True).values()) + 1
    if size != codec.vocab_size:
        raise MismatchError(
            f"{directory}/tokenizer.json has ids below {size}, the tokenizer of the run below {codec.vocab_size}"
        )
    for text in PROBES:
        wanted, found = [codec.bos_id, *codec.encode(text)], exported.encode(text).ids
        if found != wanted:
            raise MismatchError(
                f"{directory}/tokenizer.json reads {text!r} as {found[:12]}, the tokenizer of the run as "
                f"{wanted[:12]}; nothing was exported"
            )
        if exported.decode(found) != codec.decode(wanted[1:]):
            raise MismatchError(
                f"{directory}/tokenizer.json does not give {text!r} back; nothing was exported"
            )
    return len(PROBES)

"""What the notes that this project began from say on tokenizers, packing and mixtures, computed; and what danlu gives.

docs/seed-claims.md is the table; each of its rows is a function here, with the rule of the notes written out anew.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from pydantic import ValidationError
from tokenizers import Tokenizer

import house
from danlu.evaluate.bits import evaluate_domain
from danlu.mixture.repeats import effective_tokens
from danlu.mixture.settings import MixtureSettings
from danlu.mixture.weights import resolve_weights
from danlu.objective.causal import Layout, Row, fill
from danlu.records import IGNORE_INDEX, Batch, Piece, Sample
from danlu.tokenizer.codec import Codec
from danlu.tokenizer.feed import Feed
from danlu.tokenizer.measure import Labelled, compare
from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokenizer.subwords import train_bpe, word_symbols
from danlu.tokenizer.wordpiece import most_likely_pieces
from danlu.tokens.packing import pack, packing_stats
from danlu.train.settings import TrainSettings
from golden_names import GOLDEN
from small_tokenizers import TEXT, package_model, train

PAGE = house.ROOT / "docs" / "seed-claims.md"
LINES = [
    "the quick brown fox jumps over the lazy dog",
    "low lower lowest newer newest wider",
    "hug pug pun bug",
] * 60
TOY = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
Row_ = Callable[[Path], tuple[str, str]]
ROWS: dict[str, Row_] = {}


def row(claim: str) -> Callable[[Row_], Row_]:
    """Gives what the notes' rule comes to, and what danlu does."""

    def put(function: Row_) -> Row_:
        ROWS[claim] = function
        return function

    return put


def package(data: bytes):
    return pytest.importorskip("sentencepiece").SentencePieceProcessor(model_proto=data)


NOTES_IDS = {"pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3}
NOTES_CALL = {"model_type": "bpe", "character_coverage": 1.0, **NOTES_IDS}


@row("`vocab_size=32000` on a small corpus")
def _(place):
    with pytest.raises(RuntimeError, match="Vocabulary size too high"):
        package_model(LINES, vocab_size=32_000, **NOTES_CALL)
    made = train(place, LINES, kind="sentencepiece_bpe", vocab_size=32_000)
    assert made.vocab_size < 500
    assert f"32000 was lowered to {made.vocab_size}" in made.reason
    return "an error, after the corpus was read", "lowered to what the text has, and says so"


@row("`sp = sp.load(...)`, then `sp.encode`")
def _(place):
    (place / "t.model").write_bytes(package_model(LINES, vocab_size=38))
    loaded = pytest.importorskip("sentencepiece").SentencePieceProcessor().load(str(place / "t.model"))
    codec = Codec.load(train(place, LINES, vocab_size=300).path)
    assert codec.decode(codec.encode("Hello, world!")) == "Hello, world!"
    assert not hasattr(loaded, "encode")
    return f"`{loaded}`, which encodes nothing", "`Codec.load` returns the tokenizer"


@row("LLaMA's ids: pad 0, unk 1, bos 2, eos 3")
def _(place):
    # LLaMA left the package's own ids as they are.
    llama = package(package_model(LINES, vocab_size=38))
    found = {role: getattr(llama, f"{role}_id")() for role in ("unk", "bos", "eos", "pad")}
    for ids in (found, {role.removesuffix("_id"): number for role, number in NOTES_IDS.items()}):
        made = train(place, LINES, kind="sentencepiece_bpe", vocab_size=500, special_ids=ids)
        codec = Codec.load(made.path)
        assert (codec.unknown_id, codec.bos_id, codec.eos_id) == (ids["unk"], ids["bos"], ids["eos"])
        assert codec.pad_id == (ids["pad"] if ids["pad"] >= 0 else ids["eos"])
    shown = ", ".join(f"{role} {number}" for role, number in found.items())
    return f"legal, but LLaMA's are {shown}", "either, by `special_ids`"


@row("`character_coverage=1.0`, no byte fallback")
def _(place):
    notes = package(package_model(LINES, vocab_size=38, **NOTES_CALL))
    codec = Codec.load(train(place, LINES, kind="sentencepiece_bpe", vocab_size=500).path)
    texts = ["a 🚀", "two  spaces"]
    return (
        ", ".join(f"`{text}` becomes `{notes.decode(notes.encode(text)).strip()}`" for text in texts),
        ", ".join(f"`{codec.decode(codec.encode(text))}`" for text in texts),
    )


@row("the same call on lines of 4,200 bytes")
def _(place):
    lines = ["z" * 4200] * 50 + ["ab cd"] * 50
    notes = package(package_model(lines, vocab_size=20, hard_vocab_limit=False, **NOTES_CALL))
    made = train(place, lines, kind="sentencepiece_bpe", vocab_size=300, character_coverage=1.0)
    assert Tokenizer.from_file(str(made.path)).token_to_id("z") is not None
    assert (notes.piece_to_id("z"), made.left_out_bytes) == (notes.unk_id(), 0)
    return "dropped: `z` is unknown", "cut and learned: `z` is a token"


@row("unknown text: characters poor, words good")
def _(place):
    half = [
        Labelled(f"the furnace number {name} is hot", "d", "en") for name in ("one", "two", "three", "four")
    ]
    other = [
        Labelled(f"is the furnace not hot, {name}", "d", "en") for name in ("north", "tent", "root", "hero")
    ]
    by_name = {
        one.name.split(" ")[0]: one.total.rates()["unknown_rate"] for one in compare([*half, *other], [])
    }
    ours = Codec.load(train(place, [item.text for item in half], vocab_size=300).path)
    unknown = sum(ours.decode(ours.encode(item.text)) != item.text for item in other)
    return (
        f"unknown: {by_name['characters']:.0%} of characters, {by_name['words']:.0%} of words",
        f"{unknown} unknown: bytes stand for the rest",
    )


@row("BPE on words that occur once each")
def _(place):
    words = ("hug", "pug", "pun", "bug", "bun", "hugs")
    settings = TokenizerSettings(kind="bpe", vocab_size=3 + 256 + 7 + 9, pretokenizer="gpt2")
    tokenizer = train_bpe(settings, Feed(lambda: iter(words))).tokenizer
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    splits = {word: list(word) for word in words}
    tied = []
    for merge in merges:
        counts = Counter(pair for split in splits.values() for pair in pairwise(split))
        tied.append(sum(count == counts[tuple(merge)] for count in counts.values()))
        splits = {word: tokenizer_join(split, merge) for word, split in splits.items()}
    left = Counter(pair for split in splits.values() for pair in pairwise(split))
    assert tied == [len(step[2]) for step in GOLDEN["tokenizer/bpe_seed_corpus (each word once)"][:3]]
    return (
        f"step 2 is a tie of {tied[1]}, step 4 one of {len(left)} pairs seen once",
        f"the smaller pair of ids; ends after {len(merges)} steps, since one occurrence teaches nothing",
    )


def tokenizer_join(split: list[str], merge: list[str]) -> list[str]:
    out: list[str] = []
    for symbol in split:
        if out and [out[-1], symbol] == merge:
            out[-1] += symbol
        else:
            out.append(symbol)
    return out


@row("WordPiece's score f(ab) / f(a) × f(b)")
def _(place):
    singles: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for word, count in TOY.items():
        split = [word[0], *("##" + letter for letter in word[1:])]
        singles.update(dict.fromkeys(split, 0))
        for symbol in split:
            singles[symbol] += count
        for pair in pairwise(split):
            pairs[pair] += count
    as_written = {pair: count / singles[pair[0]] * singles[pair[1]] for pair, count in pairs.items()}
    meant = {pair: count / (singles[pair[0]] * singles[pair[1]]) for pair, count in pairs.items()}
    best, right = (max(scores, key=scores.get) for scores in (as_written, meant))
    (ours,) = most_likely_pieces(list(TOY.items()), word_symbols(TOY, "bghnpsu"), 1, 99, 1)
    assert ours == right[0] + right[1].removeprefix("##")
    return (
        f"read as it stands, `{best[0]}` + `{best[1]}` first, score {as_written[best]:.0f}",
        f"`{right[0]}` + `{right[1]}`, f(ab) / (f(a) f(b)) = {meant[right]:.2f}",
    )


@row("`pack_documents`, documents of 12, 3, 4, 3, 2 tokens, rows of 8")
def _(place):
    lengths, size = [12, 3, 4, 3, 2], 8
    documents = [[100 * i + k for k in range(n)] for i, n in enumerate(lengths, 1)]
    rows, current, used = [], [], 0
    for tokens in documents:
        if used + len(tokens) + 1 <= size:
            current.append(tokens)
            used += len(tokens) + 1
        else:
            rows.append(current)
            # The separator of the first document of a row is not counted; what the last row holds is never given out.
            current, used = [tokens], len(tokens)
    filled = [[token for tokens in one for token in [*tokens, 0]][:size] for one in rows]
    kept = sum(token > 0 for one in filled for token in one)
    assert kept == 15
    stats = packing_stats(pack(np.array(lengths), size, "best_fit"), np.array(lengths))
    assert (stats.tokens, stats.dropped, stats.documents_cut) == (24, 0, 1)
    empty = [i for i, one in enumerate(filled, 1) if not one]
    return (
        f"{len(rows)} rows, row {empty[0]} empty; {kept} of {sum(lengths)} tokens kept",
        f"{stats.samples} rows, {stats.tokens} tokens kept, {stats.padding} padding",
    )


@row("documents joined by a line break")
def _(place):
    documents = ["one\ntwo", "three", "four\n"]
    codec = Codec.load(train(place, [TEXT], vocab_size=300).path)
    stream = np.concatenate(codec.encode_documents(documents)).tolist()
    ends = [i for i, token in enumerate(stream) if token == codec.eos_id]
    parts = [stream[a:b] for a, b in zip([0, *(end + 1 for end in ends)], ends, strict=False)]
    assert [codec.decode(part) for part in parts] == documents
    return (
        f"{len(documents)} documents become {len(chr(10).join(documents).split(chr(10)))} lines",
        f"{len(parts)} documents: each ends with its own token",
    )


@row("short items are padded with 0 and returned as they are")
def _(place):
    item, size = [5, 6, 9], 8
    padded = item + [0] * (size - len(item))
    targets = len(padded)
    filled = Row(*(np.empty(size, dtype=np.int64) for _ in range(4)))
    fill(filled, [(np.array(item), len(item))], Layout(pad_id=0))
    ours = int((filled.labels != IGNORE_INDEX).sum())
    assert filled.labels[:ours].tolist() == item[1:]
    return (
        f"{targets} targets, {targets - len(item)} of them padding, none shifted",
        f"{ours} targets: the next token of the document, none on padding",
    )


@row("`doremi_resample` to .5 / .5, 900 pages and 100 files of code")
def _(place):
    documents, wanted = ["web"] * 900 + ["code"] * 100, {"web": 0.5, "code": 0.5}
    chances = np.array([wanted[domain] for domain in documents]) ** 0.5
    chances /= chances.sum()
    golden = {name: GOLDEN[f"mixture/resampling_by_document/{name}"] for name in wanted}
    notes = {name: chances[[domain == name for domain in documents]].sum() for name in wanted}
    assert notes == pytest.approx(golden, abs=1e-12)
    tokens = {"web": 900 * 500, "code": 100 * 500}
    ours = resolve_weights(MixtureSettings(weights=wanted), tokens, 300_000)
    return tuple(f"{shares['web']:.2f} / {shares['code']:.2f}" for shares in (notes, ours))


@row("DoReMi raises the domains that have a high loss")
def _(place):
    golden = GOLDEN["mixture/doremi"]
    weights, seen = np.array(golden["init"]), [np.array(golden["init"])]
    for excess in golden["excess"]:
        raised = weights * np.exp(golden["eta"] * np.array(excess))
        weights = (1 - golden["c"]) * raised / raised.sum() + golden["c"] / len(weights)
        seen.append(weights)
    np.testing.assert_allclose(seen, golden["weights"], atol=1e-12)
    np.testing.assert_allclose(np.mean(seen[1:], axis=0), golden["average_over_updates"], atol=1e-12)
    # Noise, which no model predicts better than the reference does, and text that can still be learned.
    loss, reference = np.array([6.0, 3.0]), np.array([6.0, 2.0])
    shares = []
    for signal in (loss, np.maximum(loss - reference, 0)):
        raised = 0.5 * np.exp(signal)
        shares.append(raised[0] / raised.sum())
    given = resolve_weights(MixtureSettings(weights={"noise": 1, "text": 1}), {"noise": 99, "text": 99}, 99)
    return (
        f"noise gets {shares[0]:.2f} of the next run; by the excess over a reference {shares[1]:.2f}",
        f"does not search; the weights given stay ({given['noise']:.2f})",
    )


@row("Llama 3: web 50, code 17, maths 4.5, books 4.5, papers 4.5, other languages 20 %")
def _(place):
    notes = [50, 17, 4.5, 4.5, 4.5, 20]
    sizes = dict.fromkeys(("general", "math_reasoning", "code", "multilingual"), 1000)
    ours = resolve_weights(MixtureSettings(preset="llama3"), sizes, 1000)
    return (
        f"sums to {sum(notes):g} %",
        "the paper's: " + ", ".join(f"{name} {100 * ours[name]:.0f}" for name in sizes),
    )


@row("LLaMA: 67, 15, 4.5, 4.5, 4.5, 2.5, 2 %; web over 80 %, code 6.5 %")
def _(place):
    notes = [67, 15, 4.5, 4.5, 4.5, 2.5, 2]
    names = ("common_crawl", "c4", "github", "wikipedia", "books", "arxiv", "stack_exchange")
    ours = resolve_weights(MixtureSettings(preset="llama1"), dict.fromkeys(names, 1000), 1000)
    assert [round(100 * ours[name], 9) for name in names] == notes
    web, code = ours["common_crawl"] + ours["c4"], ours["github"] + ours["stack_exchange"]
    return f"right: sums to {sum(notes):g} %", f"the same: web {100 * web:.0f} %, code {100 * code:.1f} %"


@row("text repeated four times and more is memorised")
def _(place):
    worth = {epochs: effective_tokens(1.0, epochs) / epochs for epochs in (4, 16, 40)}
    assert effective_tokens(1.0, 4) == pytest.approx(3.726, abs=1e-3)
    shown = ", ".join(f"{epochs} are worth {share:.0%}" for epochs, share in worth.items())
    return "no figure", f"passes lose their worth slowly: {shown} of as much new text"


@row("perplexity = e^L, L the sum over the tokens")
def _(place):
    labels = np.full((1, 100), 3)
    sample = Sample(*[labels[0]] * 4, (Piece("d", 0, 0, 100),), "d", 0)
    documents = SimpleNamespace(domain="d", lengths=np.array([101]), byte_counts=np.array([100]))
    found = evaluate_domain(
        lambda one: np.full(one.labels.shape, 2.0),
        documents,
        [Batch(*[labels] * 4, (sample,), 0)],
        np.ones(4, dtype=np.int64),
    )
    return f"{math.exp(2.0 * 100):.0e} for 100 tokens of 2 nats", f"{found.perplexity:.2f}, by the mean"


@row("batches of 4,000,000 tokens, sequences of 4,096")
def _(place):
    with pytest.raises(ValidationError, match="not a multiple") as refused:
        TrainSettings(batch_tokens=4_000_000, sequence_length=4096, steps=1)
    nearest = re.search(r"nearest: (\d+)", str(refused.value))[1]
    return f"{4_000_000 / 4096:.4f} sequences", f"refused; the nearest is {int(nearest):,}"


def table() -> dict[str, list[str]]:
    """The rows of the page, by claim."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {cells[0]: cells[1:] for cells in rows[1:]}


@pytest.mark.parametrize("claim", ROWS)
def test_the_row_is_what_comes_out(claim, tmp_path):
    gives, ours = ROWS[claim](tmp_path)
    assert table()[claim][:2] == [gives, ours]


def test_every_row_is_computed_and_says_why():
    assert list(table()) == list(ROWS)
    assert all(len(cells) == 3 and cells[2] for cells in table().values())

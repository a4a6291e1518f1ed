"""Every value of the golden files for tokenizers, packing and mixtures, by name: what danlu gives for it.

The values were made by the libraries themselves, by TRL, by the papers' formulas and by slow code of others. A name is
shown by a test, or it is an input of one, or it is listed with the reason why danlu has no such value.
"""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, decoders, pre_tokenizers

from danlu.attention.contract import document_mask
from danlu.mixture.settings import MixtureSettings
from danlu.mixture.weights import cap_epochs, resolve_weights, temperature_weights
from danlu.objective.causal import Layout, Row, fill
from danlu.tokenizer.codec import SPECIAL_TOKENS, UNK, Codec
from danlu.tokenizer.feed import Feed
from danlu.tokenizer.lattice import viterbi_counts
from danlu.tokenizer.sentencepieces import from_model, train_sentencepiece
from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokenizer.subwords import (
    MIN_PAIR_COUNT,
    make_wordpiece,
    most_frequent_pieces,
    train_bpe,
    word_symbols,
)
from danlu.tokenizer.unigram import estimate, expect, make_trie, segments_of
from danlu.tokenizer.wordpiece import most_likely_pieces
from danlu.tokens.packing import pack, packing_stats
from golden_names import GOLDEN, INPUTS, NOT_OURS, SHOWN, matching, shows
from small_tokenizers import LINES, package_model, train

# Tokenizers

TOY = GOLDEN["tokenizer/bpe_toy/freq"]
SEED_WORDS = dict.fromkeys(("hug", "pug", "pun", "bug", "bun", "hugs"), 1)
LETTERS = "bghnpsu"


def bpe_of(words: dict[str, int], merges: int) -> Tokenizer:
    """Ours; words stand alone, as those of the golden run."""
    settings = TokenizerSettings(kind="bpe", vocab_size=3 + 256 + len(LETTERS) + merges, pretokenizer="gpt2")
    texts = [word for word, count in words.items() for _ in range(count)]
    return train_bpe(settings, Feed(lambda: iter(texts))).tokenizer


def merges_of(tokenizer: Tokenizer) -> list[list[str]]:
    merges: list[list[str]] = json.loads(tokenizer.to_str())["model"]["merges"]
    return merges


def pair_counts(splits: dict[str, list[str]], words: dict[str, int]) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for word, count in words.items():
        for pair in zip(splits[word], splits[word][1:], strict=False):
            counts[pair] = counts.get(pair, 0) + count
    return counts


def joined(split: list[str], pair: list[str]) -> list[str]:
    """A word with the pair merged, left to right."""
    out: list[str] = []
    for symbol in split:
        if out and [out[-1], symbol] == pair:
            out[-1] += symbol.removeprefix("##")
        else:
            out.append(symbol)
    return out


@shows("tokenizer/bpe_toy/merges", "tokenizer/bpe_seed_corpus*")
def test_each_merge_is_the_golden_one_or_tied_with_it(name):
    words = TOY if "toy" in name else SEED_WORDS
    ours, splits = merges_of(bpe_of(words, len(GOLDEN[name]))), {word: list(word) for word in words}
    # A pair that occurs once teaches nothing: ours end before the golden run does.
    wanted = [step for step in GOLDEN[name] if step[1] >= MIN_PAIR_COUNT]
    assert len(ours) == len(wanted)
    for pair, (golden_pair, count, tied) in zip(ours, wanted, strict=True):
        counts = pair_counts(splits, words)
        assert counts[tuple(pair)] == count == max(counts.values())
        assert {each for each, n in counts.items() if n == count} == set(map(tuple, tied))
        assert pair == golden_pair
        splits = {word: joined(split, pair) for word, split in splits.items()}


@shows("tokenizer/bpe_toy/splits")
def test_words_are_cut_as_the_merges_say(name):
    tokenizer = bpe_of(TOY, 6)
    assert {word: tokenizer.encode(word).tokens for word in GOLDEN[name]} == GOLDEN[name]


@shows("tokenizer/bpe_toy_hf/merges")
def test_ties_go_as_in_the_library(name):
    assert merges_of(bpe_of(TOY, 6)) == GOLDEN[name]


@shows("tokenizer/bpe_toy_hf/vocab/*")
def test_ids_are_the_library_s_after_special_and_byte_tokens(name):
    assert bpe_of(TOY, 6).token_to_id(name.rpartition("/")[2]) == GOLDEN[name] + 3 + 256


@shows("tokenizer/wordpiece_likelihood_toy")
def test_wordpiece_scores_are_the_quotient(name):
    """Replayed in the golden order; ours takes the first step alike, and of the six tied next the most frequent."""
    splits = {word: [word[0], *("##" + letter for letter in word[1:])] for word in TOY}
    symbols = word_symbols(TOY, LETTERS)
    ours = most_likely_pieces(list(TOY.items()), symbols, 2, 99, 1)
    for step, (pair, token, score, tied) in enumerate(GOLDEN[name]):
        pairs = pair_counts(splits, TOY)
        singles: dict[str, int] = {}
        for word, split in splits.items():
            for symbol in split:
                singles[symbol] = singles.get(symbol, 0) + TOY[word]
        scores = {(a, b): count / (singles[a] * singles[b]) for (a, b), count in pairs.items()}
        assert max(scores.values()) == pytest.approx(score, rel=1e-15)
        assert sorted(p for p in scores if scores[p] == max(scores.values())) == sorted(map(tuple, tied))
        assert pair[0] + pair[1].removeprefix("##") == token
        if step < len(ours):
            assert ours[step] in {a + b.removeprefix("##") for a, b in tied}
        splits = {word: joined(split, pair) for word, split in splits.items()}
    assert ours[0] == GOLDEN[name][0][1]


@shows("tokenizer/wordpiece_hf_trainer_vocab*")
def test_wordpiece_by_frequency_is_the_library_s(name):
    """The library numbers characters by a hash table, ours by code point; what is merged is the same, in one order."""
    golden = [token for token, _ in GOLDEN[name] if token != "[UNK]"]
    symbols = word_symbols(TOY, LETTERS)
    merged = [token for token in golden if len(token.removeprefix("##")) > 1]
    texts = [" ".join([word] * count) for word, count in TOY.items()]
    ours = most_frequent_pieces(texts, symbols, len(golden), 99, 0)
    assert (sorted(ours), ours[len(symbols) :]) == (sorted(golden), merged)


@shows("tokenizer/wordpiece_encode/*")
def test_wordpiece_takes_the_longest_piece_or_the_whole_word_is_unknown(name):
    vocab = GOLDEN[matching("tokenizer/wordpiece_hf_trainer_vocab*")[0]]
    tokenizer = make_wordpiece(TokenizerSettings(kind="wordpiece"), [t for t, _ in vocab if t != "[UNK]"])
    tokens = tokenizer.encode(name.rpartition("/")[2]).tokens
    assert [token.replace(UNK, "[UNK]") for token in tokens] == GOLDEN[name]


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory):
    """Ours on the golden sample; the golden run has one special token."""
    case = {key: GOLDEN[f"tokenizer/byte_level_bpe/{key}"] for key in ("corpus", "repeat", "vocab_size")}
    size = case["vocab_size"] + len(SPECIAL_TOKENS) - 1
    place = tmp_path_factory.mktemp("byte_level")
    return train(place, [case["corpus"]] * case["repeat"], vocab_size=size, pretokenizer="gpt2").path


@shows("tokenizer/byte_level_alphabet")
def test_each_byte_has_its_character(name, byte_level):
    golden = {int(byte): symbol for byte, symbol in GOLDEN[name].items()}
    vocab, codec = Tokenizer.from_file(str(byte_level)).get_vocab(), Codec.load(byte_level)
    assert set(golden.values()) <= vocab.keys()
    counts = codec.token_bytes()
    assert {counts[vocab[symbol]] for symbol in golden.values()} == {1}
    splitter = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    seen = set()
    planes = [*range(0x1000, 0xE000, 0x1000), 0xE000, 0xFFFD, *range(0x10000, 0x110000, 0x10000)]
    for character in map(chr, [*range(0x801), *planes]):
        ((symbols, _),) = splitter.pre_tokenize_str(character)
        assert list(symbols) == [golden[byte] for byte in character.encode()]
        assert decoders.ByteLevel().decode([symbols]) == character
        seen |= set(character.encode())
    # C0, C1 and F5 to FF are in no UTF-8 text.
    assert len(seen) == 256 - 13


@shows("tokenizer/byte_level_bpe/merges")
def test_byte_level_merges(name, byte_level):
    assert merges_of(Tokenizer.from_file(str(byte_level))) == GOLDEN[name]


@shows("tokenizer/byte_level_bpe/encode")
def test_byte_level_ids(name, byte_level):
    codec, shift = Codec.load(byte_level), len(SPECIAL_TOKENS) - 1
    for text, ids in GOLDEN[name].items():
        assert codec.encode(text) == [number + shift for number in ids]


@shows("tokenizer/byte_level_bpe/lossless")
def test_byte_level_round_trip(name, byte_level):
    codec = Codec.load(byte_level)
    assert {text: codec.decode(codec.encode(text)) == text for text in GOLDEN[name]} == GOLDEN[name]


SAMPLE = [*LINES, "x y " * 2000]


@cache
def golden_model(case: str) -> bytes:
    return package_model(SAMPLE, **GOLDEN[f"tokenizer/sentencepiece/{case}/kw"])


class Pair:
    """The package with a golden model, and the tokenizer.json that danlu makes of it."""

    def __init__(self, name: str) -> None:
        case = name.split("/")[2]
        model = golden_model(case)
        self.package = pytest.importorskip("sentencepiece").SentencePieceProcessor(model_proto=model)
        self.ours = from_model(model, case)
        self.ours.encode_special_tokens = True

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self.ours.encode(text, add_special_tokens=False).ids
        assert ids == self.package.encode(text)
        return ids


@shows("tokenizer/sentencepiece/*/vocab")
def test_sentencepiece_size(name):
    assert Pair(name).ours.get_vocab_size() == GOLDEN[name]


@shows("tokenizer/sentencepiece/*/ids")
def test_sentencepiece_special_ids(name):
    pair = Pair(name)
    assert {role: getattr(pair.package, f"{role}_id")() for role in GOLDEN[name]} == GOLDEN[name]
    special = {token.content: number for number, token in pair.ours.get_added_tokens_decoder().items()}
    names = {"pad": "<pad>", "unk": "<unk>", "bos": "<s>", "eos": "</s>"}
    assert special == {names[role]: number for role, number in GOLDEN[name].items() if number >= 0}


@shows("tokenizer/sentencepiece/*/first_pieces")
def test_sentencepiece_first_pieces(name):
    assert [Pair(name).ours.id_to_token(number) for number in range(8)] == GOLDEN[name]


@shows("tokenizer/sentencepiece/*/byte_ids")
def test_sentencepiece_byte_ids(name):
    pair = Pair(name)
    found = [pair.ours.token_to_id(token) for token in ("<0x00>", "<0xFF>")]
    # The package says unknown for a piece that there is not, the library nothing.
    assert [pair.package.unk_id() if number is None else number for number in found] == GOLDEN[name]


@shows("tokenizer/sentencepiece/*/encode")
def test_sentencepiece_pieces(name):
    pair = Pair(name)
    for text, pieces in GOLDEN[name].items():
        # The package shows an unknown piece as the text that it stands for.
        assert pair.encode(text) == [pair.package.piece_to_id(piece) for piece in pieces]


@shows("tokenizer/sentencepiece/*/decode")
def test_sentencepiece_decoded(name):
    """Ours leaves out what is unknown where the package writes a sign for it, " ⁇ "."""
    pair = Pair(name)
    for text, back in GOLDEN[name].items():
        assert pair.package.decode(pair.encode(text)) == back
        assert pair.ours.decode(pair.encode(text)) == back.replace(" ⁇ ", "")


@shows("tokenizer/sentencepiece/*/roundtrip")
def test_sentencepiece_round_trip(name):
    pair = Pair(name)
    assert {text: pair.ours.decode(pair.encode(text)) == text for text in GOLDEN[name]} == GOLDEN[name]


@shows(
    "tokenizer/sentencepiece/seed call on a small corpus", "tokenizer/sentencepiece/unigram vocab too high"
)
def test_a_vocabulary_that_the_text_cannot_fill_is_lowered_not_refused(name, tmp_path):
    unigram = "unigram" in name
    options = (
        {"vocab_size": 5000, "model_type": "unigram"}
        if unigram
        else (GOLDEN["tokenizer/sentencepiece/seed_ids/kw"] | {"vocab_size": 32_000})
    )
    with pytest.raises(RuntimeError) as found:
        package_model(SAMPLE, **options)
    most = "Please set it to a value <= "
    assert str(found.value).partition(most)[2][:3] == GOLDEN[name].partition(most)[2][:3] != ""
    kind = "sentencepiece_unigram" if unigram else "sentencepiece_bpe"
    made = train(tmp_path, LINES, kind=kind, vocab_size=options["vocab_size"], byte_fallback=False)
    assert made.vocab_size < options["vocab_size"]
    assert "was lowered to" in made.reason


@shows("tokenizer/sentencepiece/SentencePieceProcessor().load() returns")
def test_loading_in_place_returns_no_tokenizer(name, tmp_path):
    (tmp_path / "t.model").write_bytes(package_model(LINES, vocab_size=100, model_type="bpe"))
    package = pytest.importorskip("sentencepiece").SentencePieceProcessor()
    assert repr(package.load(str(tmp_path / "t.model"))) == GOLDEN[name]


@shows("tokenizer/sentencepiece/char z after 50 lines of 4200 z/*")
def test_a_long_line_is_dropped_by_the_package_and_read_by_us(name):
    lines = ["z" * 4200] * 50 + ["ab cd"] * 50
    model = package_model(lines, vocab_size=12, model_type="bpe", hard_vocab_limit=False)
    package = pytest.importorskip("sentencepiece").SentencePieceProcessor(model_proto=model)
    shown = {"id": package.piece_to_id("z"), "unk": package.unk_id()}
    assert shown.get(name.rpartition("/")[2], GOLDEN[name]) == GOLDEN[name]
    settings = TokenizerSettings(kind="sentencepiece_bpe", vocab_size=300, character_coverage=1.0)
    feed = Feed(lambda: iter(lines))
    assert train_sentencepiece(settings, feed).tokenizer.token_to_id("z") > 3
    assert feed.left_out.total() == 0


EM = {
    name.rpartition("/")[2].split(" ")[0]: value
    for name, value in GOLDEN.items()
    if "/unigram_em_step/" in name
}
EM_WORDS = segments_of(list(EM["freq"].items()), LETTERS)


@shows("tokenizer/unigram_em_step/marginal_loglik")
def test_unigram_likelihood(name):
    assert expect(EM_WORDS, EM["init_logprob"])[1] == pytest.approx(GOLDEN[name], rel=1e-12)


@shows("tokenizer/unigram_em_step/expected_counts")
def test_unigram_expected_counts(name):
    assert expect(EM_WORDS, EM["init_logprob"])[0] == pytest.approx(GOLDEN[name], rel=1e-12)


@shows("tokenizer/unigram_em_step/m_step_bayesian_digamma")
def test_unigram_step_by_digamma(name):
    found, _ = expect(EM_WORDS, EM["init_logprob"])
    assert estimate(found, "") == pytest.approx(GOLDEN[name], rel=1e-10)


@shows("tokenizer/unigram_em_step/m_step_plain")
def test_unigram_plain_step(name):
    """Not a step of ours, but the counts that it is made of are."""
    found, _ = expect(EM_WORDS, EM["init_logprob"])
    kept = {piece: count for piece, count in found.items() if count >= 0.5}
    plain = {piece: math.log(count / sum(kept.values())) for piece, count in kept.items()}
    assert plain == pytest.approx(GOLDEN[name], rel=1e-12)


@shows("tokenizer/unigram_em_step/marginal_loglik_after_plain_M*")
def test_unigram_likelihood_after_the_plain_step(name):
    assert expect(EM_WORDS, EM["m_step_plain"])[1] == pytest.approx(GOLDEN[name], rel=1e-12)
    assert GOLDEN[name] > EM["marginal_loglik"]


@shows("tokenizer/unigram_em_step/viterbi")
def test_unigram_best_cuts(name):
    scores = EM["init_logprob"]
    for word, (pieces, score) in GOLDEN[name].items():
        one = segments_of([(word, 1)], LETTERS)
        used = viterbi_counts(one.codes, one.starts, one.counts, *make_trie(scores))
        found = {piece: count for piece, count in zip(scores, used.tolist(), strict=True) if count}
        assert found == dict.fromkeys(pieces, 1.0)
        assert sum(scores[piece] for piece in found) == pytest.approx(score, rel=1e-12)


# Packing


def packed(name: str, kind: str, end: int = 0) -> tuple[Any, Any]:
    """The packing of a case, `end` tokens longer a document, and what is counted of it."""
    case = name.split("/")[1]
    lengths = np.array(GOLDEN[f"packing/{case}/lengths"], dtype=np.int64) + end
    packing = pack(lengths, GOLDEN[f"packing/{case}/L"], kind)
    return packing, packing_stats(packing, lengths)


@shows("packing/*/bfd")
def test_best_fit_gives_the_golden_samples(name):
    packing, _ = packed(name, "best_fit")
    pieces = np.stack([packing.documents, packing.starts, packing.lengths], axis=1).tolist()
    ours = [pieces[a:b] for a, b in zip(packing.offsets[:-1], packing.offsets[1:], strict=True)]
    assert ours == GOLDEN[name]


@shows("packing/*/bfd_stats")
def test_best_fit_counts(name):
    stats = packed(name, "best_fit")[1]
    assert stats.dropped == 0
    assert {
        "bins": stats.samples,
        "lower_bound": stats.lower_bound,
        "tokens": stats.tokens,
        "padding": stats.padding,
        "efficiency": stats.efficiency,
        "docs_truncated": stats.documents_cut,
        "pieces": stats.pieces,
        "docs": stats.documents,
    } == GOLDEN[name]


@shows("packing/*/ffd_bins", "packing/*/trl_bins")
def test_best_fit_takes_no_more_samples_than_first_fit_and_trl(name):
    assert packed(name, "best_fit")[0].samples == GOLDEN[name]


@shows("packing/*/trl_same_bins", "packing/*/trl_same_multiset_of_space")
def test_trl_packs_the_golden_samples(name):
    """TRL's own samples were found to be the golden ones, which are ours; benchmarks/packing.py runs it again."""
    assert GOLDEN[name] is True


@shows("packing/*/concat_chunks")
def test_concatenated_samples(name):
    assert packed(name, "chunk", end=1)[0].samples == GOLDEN[name]


@shows("packing/*/concat_trunc")
def test_concatenation_cuts_more(name):
    # The paper's figure has no end-of-text tokens.
    stats = packed(name, "chunk", end=int("Ding" not in name))[1]
    assert {"docs_truncated": stats.documents_cut, "pieces": stats.pieces} == GOLDEN[name]


@shows("packing/Ding2024_Figure1/published")
def test_the_paper_s_figure(name):
    best, chunk = (packed(name, kind)[1].documents_cut for kind in ("best_fit", "chunk"))
    assert GOLDEN[name] == f"BFD truncates {best} doc, concatenation {chunk} of 5"


@shows("packing/doc_meta/*")
def test_boundaries_of_documents(name):
    row = Row(*(np.empty(8, dtype=np.int64) for _ in range(4)))
    fill(row, [(np.arange(size), size) for size in (3, 2, 1)], Layout(pad_id=0))
    mask = document_mask(torch.from_numpy(row.documents)[None])[0, 0].int().numpy()
    # Padding sees itself in ours, so that no row of the attention is empty; nothing else sees it.
    mask[row.documents < 0] = 0
    ours = {
        "position_ids": row.positions,
        "doc_ids": row.documents,
        "cu_seqlens": np.append(0, np.cumsum(pack(np.array([3, 2, 1]), 8, "best_fit").lengths)),
        "mask": mask,
    }
    assert ours[name.rpartition("/")[2]].tolist() == GOLDEN[name]


# Mixtures

SIZES = {name: int(size) for name, size in zip("abcd", GOLDEN["mixture/sizes"], strict=True)}


@shows("mixture/temperature/*")
def test_temperature(name):
    weights = temperature_weights(SIZES, float(name.rpartition("/")[2]))
    assert list(weights.values()) == pytest.approx(GOLDEN[name], abs=1e-12)


@shows("mixture/alpha/*")
def test_alpha_is_one_over_the_temperature(name):
    alpha = float(name.rpartition("/")[2])
    weights = temperature_weights(SIZES, 1 / alpha if alpha else 1e15)
    assert list(weights.values()) == pytest.approx(GOLDEN[name], abs=1e-9)


@shows("mixture/unimax_budget_1e12_epochs_4")
def test_unimax(name):
    weights = resolve_weights(MixtureSettings(method="unimax", max_epochs=4), SIZES, 10**12)
    assert list(weights.values()) == pytest.approx(GOLDEN[name], abs=1e-12)


@shows("mixture/cap_uniform_budget_1e12_epochs_4")
def test_epoch_cap(name):
    weights = cap_epochs(dict.fromkeys("abcd", 0.25), SIZES, 10**12, 4.0)
    assert list(weights.values()) == pytest.approx(GOLDEN[name], abs=1e-12)


def test_every_value_is_shown_or_has_a_reason():
    inputs, reasons = matching(*INPUTS), matching(*NOT_OURS)
    assert sorted([*SHOWN, *inputs, *reasons]) == sorted(GOLDEN)
    assert all(matching(pattern) for pattern in (*INPUTS, *NOT_OURS))

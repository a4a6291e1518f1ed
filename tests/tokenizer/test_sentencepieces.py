"""A .model and its tokenizer.json read every text alike; nothing of the sample is dropped in silence."""

import random
import sys

import pytest
from tokenizers import Tokenizer, models

from danlu.errors import InputError, MissingError, RecipeError
from danlu.tokenizer.codec import PROBES, Codec
from danlu.tokenizer.feed import Feed
from danlu.tokenizer.sentencepieces import disagreement, from_model, train_sentencepiece
from danlu.tokenizer.settings import TokenizerSettings
from small_tokenizers import LINES, TEXT, package_model, train

sentencepiece = pytest.importorskip("sentencepiece")

IDENTITY = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}


def ids_of(tokenizer, text):
    tokenizer.encode_special_tokens = True
    return tokenizer.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("options", [{}, {"byte_fallback": True}], ids=["unknown", "bytes"])
@pytest.mark.parametrize("kind", ["bpe", "unigram", "char"])
def test_ids_equal_the_package(kind, options):
    model = package_model(
        TEXT.splitlines(),
        model_type=kind,
        vocab_size=800,
        hard_vocab_limit=False,
        character_coverage=0.98,
        required_chars="".join(sorted(set("</s><unk><0123456789ABCDEFx>"))),
        **IDENTITY,
        **options,
    )
    package, ours = sentencepiece.SentencePieceProcessor(model_proto=model), from_model(model, "m")
    random.seed(1)
    alphabet = "ab c▁ \n\t<0x41>é你好👩\u200d\u0301\u00a0\x00"
    texts = ["".join(random.choices(alphabet, k=random.randint(1, 60))) for _ in range(500)]
    scores = [package.get_score(number) for number in range(package.vocab_size())]
    for text in [*PROBES, TEXT, *TEXT.splitlines(), *texts, " " * 10_001, "▁▁ ▁"]:
        found, wanted = ids_of(ours, text), package.encode(text)
        if kind == "unigram" and found != wanted:
            # Readings of one score: the package adds up in float32, `tokenizers` in float64.
            assert sum(scores[n] for n in found) == pytest.approx(sum(scores[n] for n in wanted), rel=1e-6)
        else:
            assert found == wanted


@pytest.mark.parametrize("kind", ["sentencepiece_bpe", "sentencepiece_unigram"])
def test_trained_model_and_file_agree(tmp_path, kind):
    made = train(tmp_path, TEXT.splitlines(), kind=kind, vocab_size=700)
    model = (tmp_path / "tokenizer.model").read_bytes()
    codec = Codec.load(made.path)
    package = sentencepiece.SentencePieceProcessor(model_proto=model)
    for text in (*PROBES, TEXT[:4000]):
        assert codec.encode(text) == package.encode(text)
        assert codec.decode(codec.encode(text)) == text
    assert (package.bos_id(), package.eos_id(), package.pad_id(), package.unk_id()) == (0, 1, 2, 3)
    assert disagreement(from_model(model, "m"), model) is None
    # Bits by byte need every byte: the prefix counts as a space.
    assert codec.token_bytes()[codec.encode(TEXT)].sum() == len(TEXT.encode()) + 1


def test_llama_ids_and_options(tmp_path):
    ids = {"unk": 0, "bos": 1, "eos": 2, "pad": -1}
    made = train(
        tmp_path, [TEXT], kind="sentencepiece_bpe", vocab_size=700, special_ids=ids, dummy_prefix=False
    )
    codec = Codec.load(made.path)
    assert (codec.unknown_id, codec.bos_id, codec.eos_id, codec.pad_id) == (0, 1, 2, 2)
    assert codec.encode("\x07") == [3 + 7]
    assert codec.decode(codec.encode(" x")) == " x"
    assert codec.token_bytes()[codec.encode(TEXT)].sum() == len(TEXT.encode())


def test_order_does_not_matter(tmp_path):
    """Except for Unigram's seeds, which the package finds in the order of its lines."""
    lines = TEXT.splitlines(keepends=True)
    for kind, step in (("sentencepiece_bpe", -1), ("sentencepiece_unigram", 1)):
        one = train(tmp_path / "a", lines, kind=kind, vocab_size=600)
        two = train(tmp_path / "b", lines[::step], kind=kind, vocab_size=600)
        assert one.sha256 == two.sha256


def taught(texts, **keys):
    """The feed after training, and what was learned."""
    feed = Feed(lambda: iter(texts))
    settings = TokenizerSettings(
        kind="sentencepiece_bpe", vocab_size=300, **{"character_coverage": 1.0} | keys
    )
    return feed, train_sentencepiece(settings, feed).tokenizer.get_vocab()


def test_long_lines_teach_and_reserved_characters_are_counted():
    """The package drops a line beyond 4192 bytes, and one with U+2585 or NUL, as a whole."""
    feed, vocab = taught(["z" * 9000, "q▅q\x00q " * 50, "ab cd " * 3000])
    assert {"z", "q", "▁ab"} <= vocab.keys()
    assert dict(feed.left_out) == {"characters that SentencePiece reserves": 50 * (3 + 1)}


def test_every_byte_that_is_not_learned_is_counted():
    texts = ["ab cd\r\n" * 3000, "\r\r\n\n", "ab cd " * 3000, "☃"]
    feed, vocab = taught(texts, character_coverage=0.9999)
    assert "☃" not in vocab
    left_out = {"line breaks": 2 * 3000 + 4, "characters outside of the alphabet": len("☃".encode())}
    assert dict(feed.left_out) == left_out
    # Without a space of its own before a line, the package does not see the one at which a line was cut.
    feed, _ = taught(texts, character_coverage=0.9999, dummy_prefix=False)
    assert dict(feed.left_out) == left_out | {"spaces at which a long line is cut": 4}


def test_vocabulary_is_lowered_or_refused(tmp_path):
    made = train(tmp_path, ["abab abab"], kind="sentencepiece_bpe", vocab_size=5000)
    assert made.vocab_size < 300
    assert "5000 was lowered" in made.reason
    many = "".join(map(chr, range(0x4E00, 0x5000)))
    with pytest.raises(RecipeError, match="too small"):
        train(tmp_path, [many], kind="sentencepiece_bpe", vocab_size=400, character_coverage=1.0)
    with pytest.raises(InputError, match="no text"):
        train(tmp_path, [], kind="sentencepiece_unigram")


def test_what_cannot_be_expressed_is_refused():
    with pytest.raises(InputError, match="defined by its user"):
        from_model(package_model(LINES, vocab_size=60, user_defined_symbols=["<sep>"]), "m")
    with pytest.raises(InputError, match="word models"):
        from_model(package_model(LINES, vocab_size=25, model_type="word", hard_vocab_limit=False), "m")


def test_every_cut_and_noise_is_refused():
    model = package_model(LINES, vocab_size=60)
    random.seed(2)
    for data in (
        b"",
        b"\xff" * 30,
        b"{}",
        *(model[:size] for size in range(1, len(model) - 2, 97)),
        random.randbytes(500),
    ):
        with pytest.raises(InputError, match="named"):
            from_model(data, "named")


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(MissingError, match=r"danlu\[tokenizers\]"):
        train_sentencepiece(TokenizerSettings(kind="sentencepiece_bpe"), Feed(lambda: iter(["a"])))
    assert "not installed" in str(disagreement(Tokenizer(models.BPE()), b""))


def test_a_name_that_a_given_model_reads_is_refused():
    """Where a control piece cannot be spelt out, as in a Unigram without its characters, it would be chosen."""
    lines = ["abc cab bca"] * 50
    model = package_model(lines, vocab_size=9, **IDENTITY)
    data = from_model(model, "m").to_str().encode()
    with pytest.raises(InputError, match="could forge"):
        Codec.from_bytes(data, "m")


def test_a_normaliser_that_differs_is_said(tmp_path):
    model = package_model(TEXT.splitlines(), vocab_size=500)
    assert "reads" in str(disagreement(from_model(model, "m"), model))

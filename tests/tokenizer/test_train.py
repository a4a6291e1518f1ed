"""Training is deterministic, and says when the text cannot fill the vocabulary."""

import ast
import inspect
import json
import subprocess
import sys

import pytest
from tokenizers import Tokenizer, pre_tokenizers

import house
import small_tokenizers
from danlu.errors import InputError, MissingError
from danlu.export.tokenizer import check_tokenizer, write_tokenizer
from danlu.tokenizer.codec import PROBES, SPECIAL_TOKENS, UNK, Codec
from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokenizer.train import adopt_tokenizer, load_file, train_tokenizer
from small_tokenizers import KINDS, LOSSLESS

TEXT = inspect.getsource(ast)


def train(directory, texts, **settings):
    return train_tokenizer(TokenizerSettings(**settings), lambda: iter(texts), directory)


def test_whole_byte_alphabet(trained):
    vocab = Tokenizer.from_file(str(trained.path)).get_vocab()
    assert set(pre_tokenizers.ByteLevel.alphabet()) <= vocab.keys()
    assert [vocab[name] for name in SPECIAL_TOKENS] == [0, 1, 2]


def test_order_of_texts_does_not_matter(tmp_path):
    texts = TEXT.split("\n\n")
    one = train(tmp_path / "a", texts, vocab_size=500)
    two = train(tmp_path / "b", texts[::-1], vocab_size=500)
    assert one.sha256 == two.sha256
    assert (one.sample_bytes, one.sample_documents) == (len("".join(texts).encode()), len(texts))


def test_vocabulary_larger_than_the_text_allows(tmp_path):
    report = train(tmp_path, ["abab abab"], vocab_size=10_000)
    assert report.vocab_size == Codec.load(report.path).vocab_size < 270
    assert "10000 was lowered to" in report.reason
    assert train(tmp_path, [TEXT], vocab_size=300).reason is None


def test_no_text(tmp_path):
    with pytest.raises(InputError, match="no text"):
        train(tmp_path, [])
    assert not list(tmp_path.iterdir())


def test_plain_users_of_the_file_get_bos(trained):
    ids = Tokenizer.from_file(str(trained.path)).encode("x = 1").ids
    assert ids[0] == 0
    assert ids[1:] == Codec.load(trained.path).encode("x = 1")


def test_adopt_copies_byte_for_byte(trained, tmp_path):
    report = adopt_tokenizer(TokenizerSettings(), trained.path, tmp_path)
    assert report.path.read_bytes() == trained.path.read_bytes()
    assert (report.vocab_size, report.reason) == (400, None)


def test_adopt_refuses_a_lossy_alphabet(trained, tmp_path):
    description = json.loads(trained.path.read_text(encoding="utf-8"))
    del description["model"]["vocab"]["Ą"]
    given = tmp_path / "given.json"
    given.write_text(json.dumps(description))
    with pytest.raises(InputError, match="1 of the 256 bytes"):
        adopt_tokenizer(TokenizerSettings(), given, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    """What training each kind gave, by name."""
    pytest.importorskip("sentencepiece")
    place = tmp_path_factory.mktemp("kinds")
    return {
        name: small_tokenizers.train(place / name, [small_tokenizers.TEXT], vocab_size=700, **keys)
        for name, keys in KINDS.items()
    }


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_loads_again_and_keeps_what_it_promises(kinds, name):
    made = kinds[name]
    codec = Codec.load(made.path)
    assert codec.vocab_size == made.vocab_size <= 700
    changes = [change for change in map(codec.first_change, (*PROBES, small_tokenizers.TEXT)) if change]
    assert made.lossless == (not changes) == (name in LOSSLESS)
    assert all(before != after for before, after in changes)
    assert (made.reason is None or "comes back" not in made.reason) == (name in LOSSLESS)
    documents = codec.encode_documents([*PROBES, small_tokenizers.TEXT])
    for text, ids in zip([*PROBES, small_tokenizers.TEXT], documents, strict=True):
        assert ids.tolist() == [0, *codec.encode(text), 1]
        if name in LOSSLESS:
            assert codec.decode(ids) == text
            prefix = name.startswith("sentencepiece") and text != ""
            assert codec.token_bytes()[ids].sum() == len(text.encode()) + prefix


@pytest.mark.parametrize("name", KINDS)
def test_no_text_becomes_a_special_token(kinds, name):
    codec = Codec.load(kinds[name].path)
    for special in (*SPECIAL_TOKENS, UNK):
        ids = codec.encode(f"{special} a{special}")
        assert not {0, 1, 2} & set(ids)


@pytest.mark.parametrize("name", KINDS)
def test_ids_are_the_library_s_own(kinds, name):
    """The file alone, as anybody loads it, gives BOS and the ids of the codec."""
    library = Tokenizer.from_file(str(kinds[name].path))
    library.encode_special_tokens = True
    codec = Codec.load(kinds[name].path)
    for text in (*PROBES, small_tokenizers.TEXT):
        assert library.encode(text).ids == [0, *codec.encode(text)]


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_can_be_exported(kinds, name, tmp_path):
    codec = Codec.load(kinds[name].path)
    write_tokenizer(kinds[name].path, codec, tmp_path, 128)
    assert check_tokenizer(tmp_path, codec)


def test_another_process_gives_the_same_files(kinds, tmp_path):
    """Hash tables of the library are seeded anew in every process."""
    names = [name for name in KINDS if not name.startswith("sentencepiece")]
    script = (
        "import sys; from pathlib import Path; import small_tokenizers as s\n"
        "for n in sys.argv[2:]: print(s.train(Path(sys.argv[1]), [s.TEXT], vocab_size=700, **s.KINDS[n]).sha256)"
    )
    command = [sys.executable, "-c", script, str(tmp_path), *names]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": f"{house.ROOT / 'tests'}:{house.ROOT / 'src'}", "TOKENIZERS_PARALLELISM": "false"},
    )
    assert done.stdout.split() == [kinds[name].sha256 for name in names]


@pytest.mark.parametrize("kind", ["byte_bpe", "bpe", "char"])
def test_special_ids_of_ones_own(tmp_path, kind):
    ids = {"pad": 0, "unk": 1, "bos": 2, "eos": 3}
    codec = Codec.load(train(tmp_path, [TEXT], kind=kind, vocab_size=400, special_ids=ids).path)
    assert (codec.pad_id, codec.bos_id, codec.eos_id) == (0, 2, 3)
    none = {"eos": 0, "bos": -1, "pad": -1}
    codec = Codec.load(train(tmp_path, [TEXT], kind=kind, vocab_size=400, special_ids=none).path)
    assert (codec.pad_id, codec.bos_id, codec.eos_id) == (0, 0, 0)


@pytest.mark.parametrize("kind", ["byte_bpe", "bpe", "wordpiece", "unigram"])
def test_token_length_is_capped(tmp_path, kind):
    made = train(tmp_path, ["abcdefg abc " * 200], kind=kind, vocab_size=400, max_token_length=3)
    vocab = Tokenizer.from_file(str(made.path)).get_vocab()
    learned = [name for name in vocab if not name.startswith("<")]
    assert max(len(name.removeprefix("##").encode()) for name in learned) == 3
    assert any("abc" in name for name in learned)


@pytest.mark.parametrize("kind", ["byte_bpe", "bpe", "wordpiece", "unigram", "char"])
def test_text_without_a_space_trains(tmp_path, kind):
    text = "".join(chr(0x4E00 + number * number % 97) for number in range(30_000))
    made = train(tmp_path, [text], kind=kind, vocab_size=500)
    assert made.sample_bytes == len(text.encode())
    assert made.left_out_bytes <= 0.0005 * made.sample_bytes


def test_adopt_takes_a_model_as_its_equal(kinds, tmp_path):
    model = kinds["sentencepiece_bpe"].path.with_name("tokenizer.model")
    made = adopt_tokenizer(TokenizerSettings(), model, tmp_path)
    given, ours = Codec.load(made.path), Codec.load(kinds["sentencepiece_bpe"].path)
    assert made.vocab_size == 700
    assert made.reason is None
    assert given.encode(small_tokenizers.TEXT) == ours.encode(small_tokenizers.TEXT)


def test_adopt_says_what_is_lost(kinds, tmp_path):
    made = adopt_tokenizer(TokenizerSettings(), kinds["wordpiece"].path, tmp_path)
    assert not made.lossless
    assert "comes back" in made.reason


def test_a_loss_is_shown_on_the_sample_where_the_texts_differ(tmp_path):
    text = "The furnace is lit, and it burns slowly. " * 60
    words = train(tmp_path / "a", [text], kind="wordpiece", vocab_size=200).reason
    assert "'e is lit, an' becomes 'e is lit , a'" in words
    rare = train(tmp_path / "b", [text + "é"], kind="bpe", vocab_size=200, byte_fallback=False).reason
    assert "'é' becomes '<|unk|>'" in rare


@pytest.mark.parametrize("score", ["frequency", "likelihood"])
def test_left_out_bytes_are_counted_once(tmp_path, score):
    keys = {"kind": "wordpiece", "score": score, "vocab_size": 500, "character_coverage": 0.9999}
    made = train(tmp_path, ["abcd " * 4000 + "dcbaé"], **keys)
    assert made.left_out_bytes == len("é".encode()) + 4 * (score == "likelihood")


def test_files_that_are_none(tmp_path):
    with pytest.raises(MissingError, match="no tokenizer"):
        load_file(tmp_path / "a.model")
    with pytest.raises(InputError, match="directory"):
        load_file(tmp_path)
    (tmp_path / "b.model").write_bytes(b"none")
    with pytest.raises(InputError, match=r"b\.model"):
        load_file(tmp_path / "b.model")

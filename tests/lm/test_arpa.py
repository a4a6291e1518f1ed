"""ARPA files against a slow reader; what is malformed is refused with its line."""

import gzip

import numpy as np
import pytest

from danlu.errors import InputError, MissingError
from danlu.lm.arpa import read_arpa
from danlu.lm.count import word_hash
from danlu.words.hashes import join_hashes
from small_models import ARPA, read_slowly


def key_of(words):
    """The hash of an n-gram and of it without its first word."""
    key, suffix = word_hash(words[-1]), 0
    for word in reversed(words[:-1]):
        key, suffix = np.uint64(join_hashes(key, word_hash(word))), key
    return int(key), int(suffix)


def read(tmp_path, text, name="m.arpa"):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    counts, blocks = read_arpa(path)
    return counts, list(blocks)


def as_table(blocks):
    return {
        (int(key), int(suffix)): values
        for grams in blocks
        for key, suffix, values in zip(grams.keys, grams.suffixes, grams.values.tolist(), strict=True)
    }


@pytest.mark.parametrize("name", ["m.arpa", "m.arpa.gz"])
@pytest.mark.parametrize("text", [ARPA, ARPA.replace("\n", "\r\n"), ARPA.replace("\t", "  "), ARPA.rstrip()])
def test_every_ngram_is_read(tmp_path, name, text):
    counts, blocks = read(tmp_path, text, name)
    assert counts == [5, 4, 2]
    expected = {key_of(words): pytest.approx(values) for words, values in read_slowly(ARPA).items()}
    assert as_table(blocks) == expected


def test_blocks_may_end_anywhere(tmp_path, monkeypatch):
    whole = as_table(read(tmp_path, ARPA)[1])
    for size in (1, 7, 64):
        monkeypatch.setattr("danlu.lm.arpa._BLOCK_BYTES", size)
        assert as_table(read(tmp_path, ARPA)[1]) == whole


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("-1e1", -10),
        ("-0.5E-1", -0.05),
        ("-.25", -0.25),
        ("-2.", -2),
        ("-99", -99),
        ("0", 0),
        ("-1.5e+00", -1.5),
    ],
)
def test_numbers(tmp_path, number, value):
    _, blocks = read(tmp_path, ARPA.replace("-0.7\ta\t", f"{number}\ta\t"))
    assert as_table(blocks)[key_of(["a"])][0] == pytest.approx(value)


def test_capitals_of_the_unknown_word(tmp_path):
    _, blocks = read(tmp_path, ARPA.replace("<unk>", "<UNK>"))
    assert key_of(["<unk>"]) in as_table(blocks)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("\\data\\", "data", "line 1: an ARPA file begins"),
        ("ngram 2=4", "ngram 3=4", "line 3: expected 'ngram 2=COUNT'"),
        ("ngram 2=4", "ngram 2=400000000000", "cannot hold"),
        ("ngram 2=4", "ngram 2=5", "line 18: not a probability"),
        ("ngram 2=4", "ngram 2=3", r"line 17: expected \\3-grams"),
        ("\\2-grams:", "\\3-grams:", r"line 13: expected \\2-grams"),
        ("-0.7\ta", "0.7\ta", "line 10: not a probability"),
        ("-0.7\ta", "x\ta", "line 10: not a probability"),
        ("-0.7\ta", "-\ta", "line 10: not a probability"),
        ("-0.7\ta", "-1e\ta", "line 10: not a probability"),
        ("-0.7\ta", "nan\ta", "line 10: not a probability"),
        ("a\t-0.3", "a\t-0.3\tb", "line 10: not a probability"),
        ("a\t-0.3", "a\t1e999", "line 10: not a probability"),
        ("-0.5\ta 字\t-0.25", "-0.5\ta", "line 15: not a probability, 2 words"),
        ("\\end\\", "", "ends before"),
    ],
)
def test_what_is_malformed_is_refused_with_its_line(tmp_path, old, new, said):
    with pytest.raises(InputError, match=said):
        read(tmp_path, ARPA.replace(old, new, 1))


def test_any_truncation_is_refused(tmp_path):
    for length in range(0, len(ARPA) - len("\\end\\\n"), 13):
        with pytest.raises(InputError):
            read(tmp_path, ARPA[:length])


def test_files_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "m.arpa"
    path.write_bytes(ARPA.encode("gb18030"))
    with pytest.raises(InputError, match="cannot be read"):
        list(read_arpa(path)[1])
    path = tmp_path / "m.gz"
    path.write_bytes(gzip.compress(ARPA.encode())[:-20])
    with pytest.raises(InputError, match="cannot be read"):
        list(read_arpa(path)[1])
    with pytest.raises(MissingError, match="does not exist"):
        read_arpa(tmp_path / "none")

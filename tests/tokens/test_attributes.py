"""A document's attributes are those of its own row of the ledger, and of its own tokens."""

import numpy as np
import pytest

from danlu.errors import MismatchError, MissingError, RecipeError
from danlu.shards.documents import open_documents
from danlu.tokens.attributes import read_attributes, read_stored_condition
from small_attributes import LANGUAGES, LENGTHS, bucket_of, rows_of, words_of, write_attributes


@pytest.fixture
def corpus(tmp_path):
    return write_attributes(tmp_path / "corpus", rows_of("prose", "train", len(LENGTHS)))


@pytest.fixture
def prose(tmp_path, write_domain):
    return open_documents(write_domain(tmp_path / "tokens", "prose", LENGTHS, shards=3))


def numbers_of(documents):
    """What the fixture called each document."""
    return [
        int(documents.provenance(i)["id"].removeprefix(f"{documents.source_domain}-"))
        for i in range(len(documents))
    ]


def test_each_is_of_the_documents_own_row(corpus, prose):
    names = ["tokens", "perplexity_bucket", "language", "bytes", "source", "gopher_quality_words"]
    found = read_attributes(prose, corpus, "train", names)
    numbers = numbers_of(prose)
    assert list(found) == names
    assert found["tokens"].tolist() == [LENGTHS[n] for n in numbers]
    assert found["bytes"].tolist() == numbers
    np.testing.assert_array_equal(found["perplexity_bucket"], [bucket_of(n) for n in numbers])
    assert found["gopher_quality_words"].tolist() == [words_of(n) for n in numbers]
    assert found["language"].tolist() == [LANGUAGES[n % 3] for n in numbers]
    assert set(found["source"]) == {"prose.txt"}


def test_some_of_the_documents_have_their_own(corpus, prose):
    some = prose.select(np.array([1, 4, 8]), "hard")
    found = read_attributes(some, corpus, "train", ["perplexity_bucket", "language"])
    np.testing.assert_array_equal(found["perplexity_bucket"], [bucket_of(n) for n in numbers_of(some)])
    assert found["language"].tolist() == [LANGUAGES[n % 3] for n in numbers_of(some)]


def test_sizes_need_no_ledger(tmp_path, prose):
    found = read_attributes(prose, tmp_path / "none", "train", ["bytes", "tokens"])
    assert sum(found["tokens"]) == sum(LENGTHS)
    assert read_stored_condition("bytes > 2 * tokens", tmp_path / "none", "k").names == ("bytes", "tokens")
    for ask in (
        lambda: read_attributes(prose, tmp_path / "none", "train", ["language"]),
        lambda: read_stored_condition("perplexity_bucket > 1", tmp_path / "none", "k"),
    ):
        with pytest.raises(MissingError, match="no ledger"):
            ask()


def test_a_name_that_is_not_stored(corpus, prose):
    with pytest.raises(RecipeError, match=r"stores no 'perplexity_buckt'.*did you mean 'perplexity_bucket'"):
        read_attributes(prose, corpus, "train", ["perplexity_buckt"])
    with pytest.raises(
        RecipeError, match=r"slice\.hard\.where: unknown name 'perplexity_buckt'.*did you mean"
    ):
        read_stored_condition("perplexity_buckt > 1 and bytes > 3", corpus, "mixture.slice.hard.where")
    with pytest.raises(RecipeError, match="language' is a text"):
        read_stored_condition("language > 1", corpus, "k")


def test_documents_without_a_row(tmp_path, prose):
    corpus = write_attributes(tmp_path / "corpus", rows_of("prose", "train", len(LENGTHS) - 2))
    with pytest.raises(
        MismatchError, match=r"2 of 10 train documents of domain 'prose' .*'prose-[89]'.*build"
    ):
        read_attributes(prose, corpus, "train", ["language"])
    # Rows of the other split, or of documents that were dropped, are not theirs.
    with pytest.raises(MismatchError, match="10 of 10 validation documents"):
        read_attributes(prose, corpus, "validation", ["language"])


def test_an_empty_ledger(tmp_path, prose):
    with pytest.raises(MismatchError, match="10 of 10"):
        read_attributes(prose, write_attributes(tmp_path / "corpus", []), "train", ["perplexity_bucket"])


def test_two_measures_of_one_name(tmp_path, prose):
    corpus = write_attributes(
        tmp_path / "corpus", rows_of("prose", "train", len(LENGTHS)), ("a.b_c", "a_b.c")
    )
    with pytest.raises(RecipeError, match=r"'a.b_c' and 'a_b.c' .* are both 'a_b_c'"):
        read_attributes(prose, corpus, "train", ["a_b_c"])

"""The order of the documents depends on their ids alone, and each can be read and traced."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from danlu.errors import MismatchError, MissingError
from danlu.rng import hash_text
from danlu.shards.documents import DomainDocuments, list_token_domains, open_documents
from danlu.shards.shard import provenance_path, read_header

LENGTHS = [5, 2, 9, 3, 30, 4, 7]


def test_sorted_by_hash_whatever_the_shards(tmp_path, write_domain):
    one = open_documents(write_domain(tmp_path / "a", "prose", LENGTHS, shards=1))
    many = open_documents(write_domain(tmp_path / "b", "prose", LENGTHS, shards=3))
    numbers = sorted(range(len(LENGTHS)), key=lambda n: hash_text(f"prose-{n}"))
    for documents in (one, many):
        assert documents.lengths.tolist() == [LENGTHS[n] for n in numbers]
        assert documents.byte_counts.tolist() == numbers  # the fixture's text n has n bytes
        assert [documents.provenance(i)["id"] for i in range(len(documents))] == [
            f"prose-{n}" for n in numbers
        ]
        assert documents.tokens == sum(LENGTHS)
    for i, length in enumerate(one.lengths):
        np.testing.assert_array_equal(one.tokens_of(i, 0, length), many.tokens_of(i, 0, length))


def test_tokens_of_is_cut_at_the_end(tmp_path, write_domain):
    documents = open_documents(write_domain(tmp_path, "prose", LENGTHS, shards=2))
    for i, length in enumerate(documents.lengths.tolist()):
        whole = documents.tokens_of(i, 0, length + 5)
        assert len(whole) == length
        assert (whole[0], whole[-1]) == (0, 1)
        np.testing.assert_array_equal(documents.tokens_of(i, 1, length), whole[1:])


def test_provenance_is_where_it_came_from(tmp_path, write_domain):
    documents = open_documents(write_domain(tmp_path, "prose", LENGTHS, shards=2))
    row = documents.provenance(3)
    number = int(row["id"].removeprefix("prose-"))
    assert row == {
        "id": f"prose-{number}",
        "source": "prose.txt",
        "start": number,
        "end": number + 1,
        "group": "g",
    }


def test_refusals(tmp_path, write_domain):
    directory = write_domain(tmp_path, "prose", LENGTHS, shards=2)
    with pytest.raises(MissingError, match="build the tokens"):
        open_documents(tmp_path / "train" / "none")
    with pytest.raises(MismatchError, match="another tokenizer"):
        open_documents(directory, SimpleNamespace(sha256="f" * 64, vocab_size=300, bos_id=0, eos_id=1))
    moved = directory.rename(directory.with_name("code"))
    with pytest.raises(MismatchError, match="'prose', not of 'code'"):
        open_documents(moved)


def test_provenance_of_another_shard(tmp_path, write_domain):
    directory = write_domain(tmp_path, "prose", LENGTHS, shards=2)
    first, second = (provenance_path(directory / f"shard-0000{n}.safetensors") for n in (0, 1))
    second.replace(first)
    with pytest.raises(MismatchError, match="another shard"):
        [open_documents(directory).provenance(i) for i in range(len(LENGTHS))]


def test_list_token_domains(tmp_path, write_domain):
    write_domain(tmp_path, "prose", LENGTHS)
    write_domain(tmp_path, "code", LENGTHS)
    assert list_token_domains(tmp_path, "train") == ["code", "prose"]
    assert list_token_domains(tmp_path, "validation") == []


@pytest.mark.parametrize("numbers", [[], [3], [0, 2, 3, 6], list(range(len(LENGTHS)))])
def test_some_of_the_documents(tmp_path, write_domain, numbers):
    whole = open_documents(write_domain(tmp_path, "prose", LENGTHS, shards=3))
    some = whole.select(np.array(numbers, dtype=np.int64), "hard")
    assert (some.domain, some.source_domain, len(some)) == ("hard", "prose", len(numbers))
    assert some.tokens == sum(int(whole.lengths[number]) for number in numbers)
    for place, number in enumerate(numbers):
        np.testing.assert_array_equal(some.tokens_of(place, 1, 99), whole.tokens_of(number, 1, 99))
        assert some.provenance(place) == whole.provenance(number)
        assert int(some.id_hashes()[place]) == hash_text(whole.provenance(number)["id"])
    assert some.byte_counts.tolist() == whole.byte_counts[numbers].tolist()
    assert (np.diff(whole.id_hashes().astype(object)) > 0).all()


def test_the_fingerprint_is_of_what_was_chosen(tmp_path, write_domain):
    whole = open_documents(write_domain(tmp_path / "a", "prose", LENGTHS))
    other = open_documents(write_domain(tmp_path / "b", "prose", [*LENGTHS[:-1], 8]))
    views = [
        whole.select(np.array(numbers), name)
        for numbers, name in [([0, 1], "hard"), ([0, 2], "hard"), ([0, 1], "easy")]
    ]
    views += [views[0].select(np.array([1]), "hard"), other.select(np.array([0, 1]), "hard")]
    assert len({documents.fingerprint for documents in (whole, *views)}) == 6
    assert views[0].fingerprint == whole.select(np.array([0, 1]), "hard").fingerprint


@pytest.mark.parametrize("numbers", [[1, 0], [2, 2], [-1, 0], [0, len(LENGTHS)]])
def test_numbers_that_do_not_ascend(tmp_path, write_domain, numbers):
    with pytest.raises(ValueError, match="must ascend"):
        open_documents(write_domain(tmp_path, "prose", LENGTHS)).select(np.array(numbers), "hard")


def test_texts_that_stand_twice_are_told_apart(tmp_path, write_domain):
    """Documents of one id are in the order of their shards, and count up."""
    documents = open_documents(write_domain(tmp_path, "prose", LENGTHS, shards=3))
    assert not documents.occurrences().any()
    few = [replace(shard, id_hashes=shard.id_hashes // np.uint64(2**62)) for shard in documents.shards]
    again = DomainDocuments("prose", few, [read_header(shard.path) for shard in documents.shards])
    hashes = again.id_hashes()
    for value in np.unique(hashes):
        assert again.occurrences()[hashes == value].tolist() == list(range((hashes == value).sum()))


@pytest.mark.parametrize(
    ("before", "after"),
    [((64, 4096), (66, 4096)), ((64, 65), (65, 65)), ((64, -1), (66, -1)), ((-1, -1), None)],
)
def test_the_process_may_open_a_file_more_for_each_shard(tokens, monkeypatch, before, after):
    wanted = []
    monkeypatch.setattr("resource.getrlimit", lambda _: before)
    monkeypatch.setattr("resource.setrlimit", lambda _, limits: wanted.append(limits))
    assert len(open_documents(tokens / "train" / "code").shards) == 2
    assert wanted == ([after] if after else [])

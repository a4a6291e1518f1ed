"""The sample follows the weights, fills what a small domain cannot, and depends only on ids and seed."""

import pytest

from danlu.errors import RecipeError
from danlu.read.store import part_path, write_part
from danlu.records import Document
from danlu.tokenizer.sample import sample_texts, share_out


@pytest.fixture
def corpus(tmp_path):
    for domain, count in (("code", 400), ("prose", 40)):
        documents = [Document(f"{domain}{i}", f"{domain[0]}{i:08d}x", "s", domain, "g") for i in range(count)]
        write_part(part_path(tmp_path, "train", domain, 0), documents[: count // 2])
        write_part(part_path(tmp_path, "train", domain, 1), documents[count // 2 :])
    return tmp_path


def sizes(texts):
    return [sum(len(text) for text in texts if text[0] == domain) for domain in "cp"]


def test_by_weight(corpus):
    assert sizes(list(sample_texts(corpus, {"code": 0.5, "prose": 0.5}, 400, 1))) == [200, 200]


def test_by_size_without_weights(corpus):
    assert sizes(list(sample_texts(corpus, {}, 440, 1))) == [400, 40]


def test_a_small_domain_gives_way(corpus):
    assert sizes(list(sample_texts(corpus, {"code": 0.1, "prose": 0.9}, 2000, 1))) == [1600, 400]


def test_more_than_there_is_takes_all(corpus):
    texts = list(sample_texts(corpus, {}, 10**9, 1))
    assert len(texts) == len(set(texts)) == 440


def test_seed_chooses(corpus):
    def sample(seed):
        return set(sample_texts(corpus, {}, 1000, seed))

    assert sample(1) == sample(1) != sample(2)


def test_independent_of_parts(corpus, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    for domain, count in (("code", 400), ("prose", 40)):
        documents = [Document(f"{domain}{i}", f"{domain[0]}{i:08d}x", "s", domain, "g") for i in range(count)]
        write_part(part_path(other, "train", domain, 0), documents[::-1])
    assert set(sample_texts(other, {}, 1000, 3)) == set(sample_texts(corpus, {}, 1000, 3))


def test_unknown_domain(corpus):
    with pytest.raises(RecipeError, match="'poems'"):
        list(sample_texts(corpus, {"code": 1.0, "prose": 1.0, "poems": 1.0}, 100, 1))


def test_share_out():
    assert share_out({"a": 1.0, "b": 1.0}, {"a": 10, "b": 1000}, 100) == {"a": 10, "b": 90}
    assert share_out({"a": 0.999, "b": 0.001}, {"a": 10**6, "b": 10**6}, 1000) == {"a": 999, "b": 1}

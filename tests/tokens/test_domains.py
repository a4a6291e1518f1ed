"""Slices take their documents out of a domain and lose none; orders are of what was measured."""

import json
import math
from pydoc_data.topics import topics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chinese_texts import CHINESE
from danlu.account.ledger import read_ledger
from danlu.corpus.build import build_corpus
from danlu.corpus.settings import CorpusSettings
from danlu.errors import InputError, MismatchError, RecipeError
from danlu.expressions import read_condition
from danlu.mixture.settings import Slice
from danlu.read.store import list_domains, list_parts, read_part
from danlu.records import Document
from danlu.shards.build import build_tokens
from danlu.shards.documents import open_documents
from danlu.shards.shard import write_shard
from danlu.tokenizer.codec import Codec
from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokenizer.train import train_tokenizer
from danlu.tokens.domains import open_domains, rank_by
from small_attributes import LENGTHS, bucket_of, rows_of, words_of, write_attributes
from small_shards import document_ids, header


def cuts(**where):
    return {name: Slice(of="prose", where=condition) for name, condition in where.items()}


def names_of(documents):
    return [documents.provenance(i)["id"] for i in range(len(documents))]


def numbers_of(documents):
    return [int(name.rpartition("-")[2]) for name in names_of(documents)]


@pytest.fixture
def corpus(tmp_path):
    rows = rows_of("prose", "train", len(LENGTHS)) + rows_of("prose", "validation", 4)
    return write_attributes(tmp_path / "corpus", rows)


@pytest.fixture
def tokens(tmp_path, write_domain):
    write_domain(tmp_path / "tokens", "prose", LENGTHS, shards=3)
    write_domain(tmp_path / "tokens", "prose", LENGTHS[:4], split="validation")
    write_domain(tmp_path / "tokens", "code", [7, 8])
    return tmp_path / "tokens"


def test_without_slices_they_are_those_of_the_shards(tokens, tmp_path):
    domains = open_domains(tokens, "train", tmp_path / "none", {})
    assert list(domains) == ["code", "prose"]
    assert domains["prose"].fingerprint == open_documents(tokens / "train" / "prose").fingerprint


def test_the_first_slice_that_holds_takes_a_document(tokens, corpus):
    slices = cuts(hard="perplexity_bucket == 2", long="tokens >= 9 or perplexity_bucket == 2")
    domains = open_domains(tokens, "train", corpus, slices)
    assert list(domains) == ["code", "hard", "long", "prose"]
    hard = {n for n in range(len(LENGTHS)) if bucket_of(n) == 2}
    long = {n for n in range(len(LENGTHS)) if LENGTHS[n] >= 9} - hard
    assert (set(numbers_of(domains["hard"])), set(numbers_of(domains["long"]))) == (hard, long)
    assert set(numbers_of(domains["prose"])) == set(range(len(LENGTHS))) - hard - long
    assert [domains[name].domain for name in domains] == list(domains)
    order = numbers_of(open_documents(tokens / "train" / "prose"))
    for name in ("hard", "long", "prose"):
        assert numbers_of(domains[name]) == [n for n in order if n in set(numbers_of(domains[name]))]


def test_what_was_not_measured_stays_and_is_counted(tokens, corpus, capsys):
    domains = open_domains(
        tokens,
        "train",
        corpus,
        cuts(easy="perplexity_bucket < 2", rest="tokens > 100 or True" if False else "tokens == 3"),
    )
    unsure = [n for n in range(len(LENGTHS)) if math.isnan(bucket_of(n))]
    assert LENGTHS[3] == 3
    assert set(unsure) == {3, 7}
    assert numbers_of(domains["rest"]) == [3]
    assert 7 in numbers_of(domains["prose"])
    assert "slice easy: 1 of 10 train documents of prose stay" in capsys.readouterr().err


def test_a_validation_split_is_cut_by_the_same_slices(tokens, corpus):
    domains = open_domains(
        tokens, "validation", corpus, cuts(hard="perplexity_bucket == 2", huge="tokens > 9")
    )
    assert {name: numbers_of(documents) for name, documents in domains.items() if name != "prose"} == {
        "hard": [2]
    }
    assert sorted(numbers_of(domains["prose"])) == [0, 1, 3]
    assert list(open_domains(tokens, "validation", corpus, cuts(all="tokens > 0"))) == ["all"]
    assert list(open_domains(tokens, "validation", corpus, {"x": Slice(of="code", where="tokens > 0")})) == [
        "prose"
    ]


@pytest.mark.parametrize(
    ("slices", "error", "words"),
    [
        (
            cuts(huge="tokens > 99"),
            InputError,
            r"slice.huge.where = 'tokens > 99' holds for none of the 10 training",
        ),
        (
            cuts(huge="perplexity_bucket > 2"),
            InputError,
            r"none of the 10 .*\(2 of them are not measured\).*perplexity_bucket is 0 to 2",
        ),
        (
            cuts(french="language == 'fr' and source == 'x'"),
            InputError,
            r"language is 'en' \(4\), '' \(3\), 'zh' \(3\); source is 'prose.txt' \(10\)",
        ),
        (
            cuts(one="tokens > 3", two="tokens > 4"),
            InputError,
            "slice.two.where .* no earlier slice takes.*tokens is 2 to 3",
        ),
        (cuts(one="tokens > 3", two="tokens <= 3"), InputError, "one, two take all 10 training documents"),
        (
            {"x": Slice(of="books", where="tokens > 3")},
            InputError,
            "slice.x: domain 'books' has no training text",
        ),
        (cuts(x="token > 3"), RecipeError, "slice.x.where: unknown name 'token'.*did you mean 'tokens'"),
        ({"x": Slice(of="code", where="language == 'en'")}, MismatchError, "2 of 2 train documents"),
    ],
)
def test_slices_of_nothing(tokens, corpus, slices, error, words):
    with pytest.raises(error, match=words):
        open_domains(tokens, "train", corpus, slices)


def test_another_condition_is_another_domain(tokens, corpus):
    prints = [
        open_domains(tokens, "train", corpus, cuts(hard=where))[name].fingerprint
        for where in ("tokens > 5", "tokens > 5.5", "tokens > 6")
        for name in ("hard", "prose")
    ]
    assert prints[:2] == prints[2:4]
    assert len(set(prints)) == 4


def test_order_by_sizes_and_measures(tokens, corpus, capsys):
    prose = open_documents(tokens / "train" / "prose")
    numbers = numbers_of(prose)
    rising = rank_by(prose, corpus, "train", "tokens")
    assert [LENGTHS[numbers[i]] for i in rising] == sorted(LENGTHS)
    assert rank_by(prose, corpus, "train", "-tokens").tolist() == rising[::-1].tolist()
    ranked = rank_by(prose, corpus, "train", "-gopher_quality_words")
    assert ranked.tolist() == sorted(range(len(numbers)), key=lambda i: (-words_of(numbers[i]), i))
    assert not capsys.readouterr().err
    for attribute, sign in (("perplexity_bucket", 1), ("-perplexity_bucket", -1)):
        ranked = [bucket_of(numbers[i]) for i in rank_by(prose, corpus, "train", attribute)]
        assert ranked[:-2] == sorted(ranked[:-2], key=lambda bucket: sign * bucket)
        assert all(map(math.isnan, ranked[-2:]))
        assert "order of prose: 2 of 10 train documents have no perplexity_bucket" in capsys.readouterr().err


def test_order_of_a_slice(tokens, corpus):
    hard = open_domains(tokens, "train", corpus, cuts(hard="perplexity_bucket != 1"))["hard"]
    ranked = rank_by(hard, corpus, "train", "-bytes")
    assert [numbers_of(hard)[i] for i in ranked] == sorted(numbers_of(hard), reverse=True)
    with pytest.raises(RecipeError, match="stores no 'byte'"):
        rank_by(hard, corpus, "train", "byte")


NAMES = {"perplexity_bucket": bucket_of, "gopher_quality_words": words_of, "bytes": float}
CONDITIONS = st.builds(
    "{} {} {}".format,
    st.sampled_from(list(NAMES)),
    st.sampled_from(["<", ">=", "==", "!="]),
    st.integers(0, 50),
)
JOINED = st.lists(CONDITIONS, min_size=1, max_size=3).map(" and ".join) | st.lists(
    CONDITIONS, min_size=1, max_size=3
).map(" or not ".join)


@given(wheres=st.lists(JOINED, min_size=1, max_size=4))
@settings(max_examples=30, deadline=None)
def test_every_document_is_where_its_row_says(many, wheres):
    directory, corpus, documents = many
    slices = cuts(**{f"slice{i}": where for i, where in enumerate(wheres)})
    expected = dict.fromkeys(range(documents), "prose")
    for n in expected:
        values = {name: value(n) for name, value in NAMES.items()}
        for name, cut in slices.items():
            condition = read_condition(cut.where, NAMES)
            if condition.judge(values) is True and expected[n] == "prose":
                expected[n] = name
    if set(expected.values()) != {"prose", *slices}:
        with pytest.raises(InputError):
            open_domains(directory, "train", corpus, slices)
        return
    found = open_domains(directory, "train", corpus, slices)
    assert {n: name for name in found for n in numbers_of(found[name])} == expected
    assert sum(len(part) for part in found.values()) == documents


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Shards and a ledger of sixty documents."""
    root, count = tmp_path_factory.mktemp("many"), 60
    write_prose(root / "tokens", count)
    return root / "tokens", write_attributes(root / "corpus", rows_of("prose", "train", count)), count


def write_prose(directory, count):
    documents = [Document(f"prose-{n}", "x" * n, "prose.txt", "prose", "g", n, n + 1) for n in range(count)]
    ids = [document_ids(n, 2 + n % 5) for n in range(count)]
    write_shard(directory / "train" / "prose" / "shard-00000.safetensors", header("prose"), documents, ids)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Real text in two languages through the corpus steps, a tokenizer and shards: (tokens, corpus, codec)."""
    base = tmp_path_factory.mktemp("built")
    english = [{"id": name, "text": topics[name][:1500]} for name in sorted(topics)[:60]]
    chinese = [{"id": record["title"], "text": record["text"]} for record in CHINESE]
    for language, records in (("en", english + english[:3]), ("zh", chinese)):
        with (base / f"{language}.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)
    steps = [
        {"use": "normalize"},
        {"use": "length", "min_characters": 100},
        {"use": "expression", "keep": "word_count > 20"},
    ]
    sources = [{"domain": "prose", "paths": [f"{code}.jsonl"], "language": code} for code in ("en", "zh")]
    recipe = CorpusSettings.model_validate(
        {"validation_share": 0.2, "source": sources, "step": [*steps, {"use": "exact"}], "workers": 1}
    )
    corpus = base / "corpus"
    build_corpus(recipe, base, corpus)
    texts = [document.text for split in ("train", "validation") for document in kept(corpus, split)]
    tokenizer = train_tokenizer(TokenizerSettings(vocab_size=400), lambda: iter(texts), base / "t").path
    build_tokens(tokenizer, corpus, base / "tokens")
    return base / "tokens", corpus, Codec.load(tokenizer)


def kept(corpus, split):
    return [
        document
        for domain in list_domains(corpus, split)
        for part in list_parts(corpus, split, domain)
        for document in read_part(part)
    ]


@pytest.mark.parametrize("split", ["train", "validation"])
def test_real_text_is_cut_by_what_its_corpus_stores(built, split):
    directory, corpus, codec = built
    slices = {
        "chinese": Slice(of="prose", where="language == 'zh'"),
        "long": Slice(of="prose", where="expression_word_count > 150 and bytes < 2000"),
    }
    texts = {document.id: document for document in kept(corpus, split)}
    rows = [row for batch in read_ledger(corpus) for row in batch.to_pylist()]
    rows = [row for row in rows if row["split"] == split and not row["reason"]]
    expected = {}
    for row in rows:
        long = row["expression.word_count"] > 150 and row["kept_bytes"] < 2000
        expected[row["id"]] = "chinese" if row["language"] == "zh" else "long" if long else "prose"
    domains = open_domains(directory, split, corpus, slices, codec)
    assert {name: part for part in domains for name in names_of(domains[part])} == expected
    assert set(expected) == set(texts)
    for documents in domains.values():
        for number, name in enumerate(names_of(documents)):
            ids = documents.tokens_of(number, 1, int(documents.lengths[number]) - 1)
            assert codec.decode(ids.tolist()) == texts[name].text
            assert documents.byte_counts[number] == len(texts[name].text.encode())


def test_real_text_in_the_order_of_a_measure(built):
    directory, corpus, codec = built
    long = open_domains(directory, "train", corpus, cuts(long="bytes > 600"), codec)["long"]
    ranked = [names_of(long)[i] for i in rank_by(long, corpus, "train", "-expression_word_count")]
    rows = [row for batch in read_ledger(corpus) for row in batch.to_pylist()]
    words = {row["id"]: row["expression.word_count"] for row in rows if not row["reason"]}
    counts = np.array([words[name] for name in ranked])
    assert len(counts) > 10
    assert (np.diff(counts) <= 0).all()

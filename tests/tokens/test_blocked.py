"""A blocked document is found by its id, kept in the run's file, and missing ones are named."""

import pytest

from danlu.errors import DamagedError, MismatchError, MissingError
from danlu.shards.documents import open_documents
from danlu.tokens.blocked import FILE, block_documents, block_from_the_start, read_blocked


@pytest.fixture
def documents(tmp_path, write_domain):
    return {
        name: open_documents(write_domain(tmp_path, name, [9, 12, 5, 30], shards=2))
        for name in ("code", "prose")
    }


def test_blocked_from_a_step_on(tmp_path, documents):
    assert read_blocked(tmp_path, documents) == {}
    assert block_documents(tmp_path, documents, ["code-2", "prose-0", "code-2"], 8) == 2
    assert block_documents(tmp_path, documents, ["code-1", "prose-0"], 20) == 1
    blocked = read_blocked(tmp_path, documents)
    found = {
        (domain, documents[domain].provenance(number)["id"]): step
        for domain, numbers in blocked.items()
        for number, step in numbers.items()
    }
    assert found == {("code", "code-2"): 7, ("prose", "prose-0"): 7, ("code", "code-1"): 19}


def test_an_id_that_is_not_there_blocks_nothing(tmp_path, documents):
    with pytest.raises(MissingError, match=r"'code-9'.*inspect"):
        block_documents(tmp_path, documents, ["code-1", "code-9"], 1)
    assert not (tmp_path / FILE).exists()


def test_a_line_of_another_run(tmp_path, documents):
    (tmp_path / FILE).write_text('{"id": "gone", "from_step": 3}\n')
    with pytest.raises(MismatchError, match="blocks 'gone'"):
        read_blocked(tmp_path, documents)


@pytest.mark.parametrize(
    "line",
    [
        *('{"id": "code-1"}', '{"from_step": 3}', '{"id": "code-1", "from_step": "3"}', "not json", "[1, 2]"),
        *('{"id": "code-1", "from_step": 0}', '{"id": 5, "from_step": 3}', '{"id": "code-1", "from_step": 3'),
    ],
)
def test_a_line_that_is_none_is_named(tmp_path, documents, line):
    (tmp_path / FILE).write_text(f'{{"id": "code-2", "from_step": 3}}\n{line}\n')
    with pytest.raises(DamagedError, match=r"blocked\.jsonl, line 2 is none of"):
        read_blocked(tmp_path, documents)


def test_a_training_that_starts_over_never_shows_them(tmp_path, documents):
    block_from_the_start(tmp_path)
    assert not (tmp_path / FILE).exists()
    block_documents(tmp_path, documents, ["code-2"], 8)
    block_from_the_start(tmp_path)
    assert list(read_blocked(tmp_path, documents)["code"].values()) == [0]

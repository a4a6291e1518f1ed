"""A blocked document is found by its id, kept in the run's file, and missing ones are named."""

import pytest

from danlu.errors import MismatchError, MissingError
from danlu.shards.documents import open_documents
from danlu.tokens.blocked import FILE, block_documents, read_blocked


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

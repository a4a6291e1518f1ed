"""Names of lists: whole words, capitals, Chinese ones anywhere, the longest first; files that cannot be used."""

import os
import random

import pytest

from danlu.errors import InputError
from danlu.pii import names
from danlu.pii.view import look
from danlu.words.text import Text


@pytest.fixture
def listed(tmp_path):
    def write(text, code="en"):
        (tmp_path / code).write_text(text, encoding="utf-8")
        return names.load_names({code: str(tmp_path / code)}, "")

    return write


def found(text, lists):
    return [text[item.start : item.end] for item in names.find_names(look(Text(text)), lists)]


def test_whole_words_as_written_or_in_capitals(listed):
    lists = listed("Will\nJean-Luc\nO'Brien\nAda Lovelace\nAda\n")
    assert found("Will will WILL Willow Jean-Luc O’Brien's", lists) == ["Will", "WILL", "Jean-Luc", "O’Brien"]
    assert found("Ada Lovelace, Ada Lovelaces, Ada", lists) == ["Ada Lovelace", "Ada", "Ada"]
    assert found("我叫Will，Will来了", lists) == ["Will", "Will"]
    assert found("ADA LOVELACE", lists) == ["ADA LOVELACE"]
    assert found("Will's Will-power Will_x xWill 1Will Will1", lists) == ["Will", "Will", "Will"]


def test_chinese_names_anywhere_longest_first(listed):
    lists = listed("张伟\n张伟民\n欧阳娜娜\n", "zh")
    assert found("我叫张伟民和张伟，欧阳娜娜", lists) == ["张伟民", "张伟", "欧阳娜娜"]
    assert found("张 伟", lists) == []


def test_random_texts_equal_a_slow_reference(listed):
    pool = ["甲", "乙", "丙"]
    draw = random.Random(3)
    entries = {"".join(draw.choices(pool, k=draw.randrange(2, 5))) for _ in range(6)}
    lists = listed("\n".join(sorted(entries)), "zh")
    for _ in range(300):
        text = "".join(draw.choices([*pool, "x"], k=draw.randrange(40)))
        expected, at = [], 0
        while at < len(text):
            best = max((entry for entry in entries if text.startswith(entry, at)), key=len, default="")
            expected += [best] if best else []
            at += len(best) or 1
        assert found(text, lists) == expected


def test_languages_choose_lists(tmp_path):
    for code, text in (("en", "Smith"), ("zh", "张伟"), ("all", "Li")):
        (tmp_path / code).write_text(text, encoding="utf-8")
    files = {"en": str(tmp_path / "en"), "zh": str(tmp_path / "zh"), "*": str(tmp_path / "all")}
    text = "Smith Li 张伟"
    assert found(text, names.load_names(files, "")) == ["Smith", "Li", "张伟"]
    assert found(text, names.load_names(files, "en")) == ["Smith", "Li"]
    assert found(text, names.load_names(files, "fr")) == ["Li"]
    assert found(text, names.load_names({}, "fr")) == []


def test_a_changed_file_is_read_anew(listed, tmp_path):
    assert found("Ann Bob", listed("Ann")) == ["Ann"]
    lists = listed("Bob")
    os.utime(tmp_path / "en", ns=(1, 1))
    lists = names.load_names({"en": str(tmp_path / "en")}, "")
    assert found("Ann Bob", lists) == ["Bob"]
    names.forget_files()
    assert found("Ann Bob", names.load_names({"en": str(tmp_path / "en")}, "")) == ["Bob"]


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "no name"), ("# only\n", "no name"), ("1\n", "line 1"), (f"Ann\n{'a' * 61}\n", "line 2")],
)
def test_lists_that_are_refused(listed, text, words):
    with pytest.raises(InputError, match=words):
        listed(text)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        names.load_names({"en": str(tmp_path / "none")}, "")
    (tmp_path / "latin").write_bytes(b"M\xfcller\n")
    with pytest.raises(InputError, match="UTF-8"):
        names.load_names({"de": str(tmp_path / "latin")}, "")

"""Evaluation examples found in texts: by words, tokens and characters, in every script."""

import gzip
import json

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from danlu.dedup.decontaminate import MEASURES, decide, fold, forget_files, load_table, measure, overlaps
from danlu.dedup.settings import Decontaminate
from danlu.errors import InputError
from danlu.words.text import Text

QUESTION = "Which river flows through the old town of Heidelberg before it meets the Rhine in Mannheim?"
CHINESE = "请问哪一条河流在流入莱茵河之前穿过海德堡的老城并且绕过山脚"


@pytest.fixture
def base(tmp_path):
    lines = [
        {"id": 7, "question": QUESTION, "choices": ["the Neckar", "the Main"]},
        {"question": "Too short?"},
    ]
    (tmp_path / "quiz.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    with gzip.open(tmp_path / "zh.txt.gz", "wt", encoding="utf-8") as file:
        file.write(f"\n{CHINESE}\n")
    return tmp_path


def settings(base, **keys):
    """Settings of files in `base`; they are named from the root, as a build names them."""
    keys = {"against": ["*.jsonl", "*.txt.gz"], **keys}
    if "tokenizer" in keys:
        keys["tokenizer"] = f"{base}/{keys['tokenizer']}"
    files = [str(path) for name in keys["against"] for path in sorted(base.glob(name))]
    return Decontaminate(**{**keys, "against": files})


@pytest.mark.parametrize("unit", ["words", "characters"])
def test_case_punctuation_and_accents_do_not_hide(base, unit):
    chosen = settings(base, unit=unit)
    hidden = QUESTION.upper().replace(" ", ",\n").replace("RIVER", "RI\u0301VÉR")
    text = Text(f"Before it all.  {hidden} And after.")
    (found,) = overlaps(text, chosen)
    assert found.example == f"{base}/quiz.jsonl:1"
    assert found.text == text.text[found.start : found.end] == hidden.rstrip("?")
    assert overlaps(Text(QUESTION.replace("town", "city")), settings(base, ngram=12)) == []
    assert overlaps(Text(""), chosen) == []


def test_what_is_measured_and_decided(base):
    chosen = settings(base)
    table = load_table(chosen)
    assert table.too_short == 1
    half = Text(f"{QUESTION} {QUESTION} " + "other words " * 16)
    values = measure(half, chosen).values
    assert dict(zip(MEASURES, values, strict=True)) == {"matched_ngrams": 8.0, "matched_share": 0.5}
    assert measure(half, chosen).text is half
    assert decide(values, chosen) == "overlap"
    assert decide(values, settings(base, max_share=0.5)) == ""
    assert decide(values, settings(base, max_share=0.49)) == "overlap"
    assert decide(measure(Text("clean"), chosen).values, chosen) == ""
    assert decide(measure(Text(""), chosen).values, chosen) == ""


def test_cutting_leaves_the_rest(base):
    chosen = settings(base, action="cut")
    text = Text(f"Quiz night.\n\n{QUESTION}\n\nBeer was had.", language="en")
    result = measure(text, chosen)
    assert result.text.text == "Quiz night.\n\n?\n\nBeer was had."
    assert result.text.language == "en"
    assert decide(result.values, chosen) == ""


def test_chinese_counts_by_character(base):
    chosen = settings(base)
    text = Text(f"题目，{CHINESE[:8]}，{CHINESE[8:20]}！答案")
    (found,) = overlaps(text, chosen)
    assert found.example == f"{base}/zh.txt.gz:2"
    assert found.text == f"{CHINESE[:8]}，{CHINESE[8:20]}"


def test_runs_are_counted_apart(base):
    chosen = settings(base)
    text = Text(f"{QUESTION} Something between. {CHINESE} 其他 {QUESTION}")
    found = overlaps(text, chosen)
    assert [overlap.example.rpartition("/")[2] for overlap in found] == [
        "quiz.jsonl:1",
        "zh.txt.gz:2",
        "quiz.jsonl:1",
    ]


def test_tokens_keep_their_place(base):
    words = {word: number for number, word in enumerate(["[UNK]", *QUESTION[:-1].split()])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(base / "tokenizer.json"))
    chosen = settings(base, unit="tokens", tokenizer="tokenizer.json", ngram=5, against=["quiz.jsonl"])
    text = Text(f"\ud800é {' '.join(QUESTION.split()[2:9])} end")
    (found,) = overlaps(text, chosen)
    assert found.text == " ".join(QUESTION.split()[2:9])


def test_a_file_is_read_once_until_it_is_forgotten(base):
    chosen = settings(base, against=["quiz.jsonl"])
    assert len(load_table(chosen).places) == 2
    (base / "quiz.jsonl").write_bytes(b"\xef\xbb\xbf" + json.dumps({"question": QUESTION}).encode())
    assert len(load_table(chosen).places) == 2
    forget_files()
    assert load_table(chosen).places == (f"{base}/quiz.jsonl:1",)


def test_fields_are_chosen(base):
    with pytest.raises(InputError, match="none of the 1 examples"):
        load_table(settings(base, fields=["choices"], against=["quiz.jsonl"]))
    table = load_table(settings(base, fields=["choices", "question"], against=["quiz.jsonl"]))
    # 4 words of answers, then 16 of the question.
    assert len(table.keys) == 20 - 13 + 1


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"against": ["bad.jsonl"]}, r"bad\.jsonl:2: not a line of JSON"),
        ({"against": ["latin.txt"]}, r"latin\.txt, line 1: not UTF-8"),
        ({"against": ["cut.txt.gz"]}, r"cut\.txt\.gz is truncated"),
        ({"against": ["no.txt.gz"]}, r"no\.txt\.gz is corrupt"),
        ({"against": ["notes.csv"]}, r"neither \.jsonl nor \.txt"),
        ({"ngram": 500, "against": ["zh.txt.gz"]}, "lower ngram"),
        ({"unit": "tokens", "tokenizer": "missing.json"}, "does not exist"),
    ],
)
def test_refuses(base, keys, words):
    (base / "bad.jsonl").write_text('{"a": 1}\n{"a": \n')
    (base / "notes.csv").write_text("a")
    (base / "latin.txt").write_bytes(b"caf\xe9\n")
    (base / "no.txt.gz").write_bytes(b"no gzip")
    (base / "cut.txt.gz").write_bytes((base / "zh.txt.gz").read_bytes()[:-9])
    with pytest.raises(InputError, match=words):
        load_table(settings(base, **keys))


def test_a_file_without_the_fields_is_refused_and_says_which_it_has(base):
    with pytest.raises(
        InputError, match=r"quiz.jsonl has no text in answer; its fields are id, question, choices"
    ):
        load_table(settings(base, fields=["answer"], against=["quiz.jsonl"]))
    (base / "empty.txt").write_text("\n")
    with pytest.raises(InputError, match=r"empty.txt has no text$"):
        load_table(settings(base, against=["empty.txt", "quiz.jsonl"]))


@pytest.mark.parametrize("single", [False, True])
def test_folding_against_a_loop(single):
    text = "Ab, ça\u0301 中文x字\x00 …İ\ud800"
    codes = Text(text).codes
    table = np.arange(0x110000, dtype=np.uint32)
    table[[ord(c) for c in " ,…\x00"]] = 0
    table[0x301] = 1
    flags = np.zeros(0x110000, np.uint8)
    flags[[ord(c) for c in "中文字"]] = 128
    kept, begins, ends, places = fold(codes, table, flags, single)
    words = ["".join(map(chr, kept[b:e])) for b, e in zip(begins, ends, strict=True)]
    expected = [*"Abça中文x字İ\ud800"] if single else ["Ab", "ça", "中", "文", "x", "字", "İ\ud800"]
    assert words == expected
    assert [text[place] for place in places] == [*"Abça中文x字İ\ud800"]

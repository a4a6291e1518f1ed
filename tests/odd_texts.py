"""Odd texts for the steps of a corpus: each breaks one rule, and shows what one key of the step changes.

A bank holds the texts of one step by name, and its keys: another value, and the names of the texts that fare otherwise
with it. `odd_shared.py` has those of the steps that compare documents with each other or with files, `odd_learned.py`
those of the steps with models and lists.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple


class Change(NamedTuple):
    """The bank's texts with these names fare otherwise where a key has this value."""

    value: Any
    names: set[str]
    given: dict[str, Any] | None = None
    """The step's settings before, instead of the bank's."""


@dataclass(frozen=True)
class Bank:
    """The texts and keys of a step; the text "plain" has nothing odd and is kept as it is."""

    texts: Mapping[str, str | dict[str, str]]
    """A text, or a record with its text and metadata."""
    keys: Mapping[str, Change]
    settings: dict[str, Any] = field(default_factory=dict)
    """Other than the defaults, so that texts can be short."""
    language: str = "auto"
    """Of all texts, as their source declares it."""
    files: Mapping[str, str | Callable[[Path], Any]] = field(default_factory=dict)
    """What lies beside the texts, or what makes the file or folder of a name."""
    touched: set[str] = field(default_factory=set)
    """The texts that do not come through the step as they were, where those are not all but "plain"."""

    @property
    def odd(self) -> set[str]:
        """The texts that do not come through the step as they were."""
        return self.touched or set(self.texts) - {"plain"}

    @property
    def rows(self) -> dict[str, dict[str, str]]:
        """The records by name."""
        return {name: {"text": row} if isinstance(row, str) else row for name, row in self.texts.items()}

    @property
    def metadata(self) -> list[str]:
        """The fields of records that are no text."""
        return sorted({key for row in self.rows.values() for key in row} - {"text", "url"})

    def write(self, place: Path) -> None:
        """Lays the texts down, as bank.jsonl, and what lies beside them."""
        for name, content in self.files.items():
            if callable(content):
                content(place / name)
            else:
                (place / name).write_text(content)
        rows = [json.dumps({"id": name, **row}) for name, row in self.rows.items()]
        (place / "bank.jsonl").write_text("\n".join(rows))


PLAIN = "The cat sat on the mat and the dog was to be of help with that."
LINES = [f"Line {number} says that the {number * 37}th stone is warm." for number in range(12)]


def unique(count: int, first: int = 0) -> str:
    """So many words of five letters, each once."""
    spelled = str.maketrans("0123456789", "abcdefghij")
    return " ".join(f"w{number:04}".translate(spelled) for number in range(first, first + count))


def apart(ngram: str, times: int, words: int = 1) -> str:
    """An n-gram so many times, with so many other words before each."""
    return " ".join(f"{unique(words, place * words)} {ngram}" for place in range(times))


def run_twice(words: int, others: int) -> str:
    """A run of words, the last of them long, at both ends of others that occur once."""
    run = " ".join([*(f"{chr(97 + number)}{number}" for number in range(words - 1)), "z" * 30])
    return f"{run} {unique(others)} {run}"


NORMALIZE = Bank(
    {
        "plain": PLAIN,
        "accent": "A cafe\u0301, its accent written apart.",
        "controls": "Ends of lines\r\nand a bell\x07.",
        "mojibake": "A caf\u00c3\u00a9 at the corner.",
        "replaced": "One \ufffd is lost.",
    },
    {
        "unicode": Change("none", {"accent"}),
        "max_replacement_share": Change(0.5, {"replaced"}),
        "repair": Change(False, {"mojibake"}),
    },
)
LENGTH = Bank(
    {"plain": PLAIN, "short": "Nine words.", "long": " ".join(LINES)},
    {"min_characters": Change(5, {"short"}), "max_characters": Change(700, {"long"})},
    {"max_characters": 200},
)
REPETITION = Bank(
    {
        "plain": "\n".join(LINES),
        "lines": "\n".join([*LINES[3:11], "x", "x", "x", "x", "x"]),
        "characters": "\n".join([*LINES[:4], LINES[4] * 3, LINES[4] * 3]),
        "letters": f"{'z' * 90} and then some words of other letters",
    },
    {
        "max_duplicate_line_share": Change(0.5, {"lines"}),
        "max_duplicate_character_share": Change(0.5, {"characters"}),
        "max_character_share": Change(0.9, {"letters"}),
    },
)
LANGUAGE = Bank(
    {
        "english": "The river runs through the old town, and people walk along it in the evening when it is warm.",
        "german": "Der Fluss fließt durch die alte Stadt, und am Abend gehen die Leute an ihm spazieren.",
        "short": "OK",
        "unsure": "Alpha Beta 12 Gamma kg; Delta 34 Epsilon cm; Zeta 56 Omega Sigma.",
        "code": {"text": "def add(left, right):\n    return left + right\n", "code_language": "python"},
    },
    {
        "keep": Change(["de"], {"english", "german"}),
        "min_score": Change(0.21, {"unsure"}),
        "min_letters": Change(1, {"short"}),
        "short": Change("keep", {"short"}),
        "unsure": Change("keep", {"unsure"}),
        "code": Change("measure", {"code"}),
    },
    {"keep": ["en"]},
    touched={"english", "german", "short", "unsure"},
)
EXPRESSION = Bank(
    {"plain": PLAIN, "few": "Only three words.", "two": "Two words."},
    {"keep": Change("word_count > 2", {"few"}), "reason": Change("wordy", {"few", "two"})},
    {"keep": "word_count > 5"},
)
GOPHER_QUALITY = Bank(
    {
        "plain": PLAIN,
        "short": "The cat of the house sat.",
        "long": f"{PLAIN} {PLAIN}",
        "small words": "To be of it or to be of me as to be in it.",
        "large words": "The internationalization of institutionalizations and of counterrevolutionaries.",
        "hashes": "The ### cat sat # on the # mat of the house.",
        "ellipses": "The cat ... sat ... on the ... mat of the house.",
        "bullets": "- the cats and the dogs of that house\n- the dogs and the cats of that house",
        "dangling": "The cat sat on the mat and the dog was to be of help...\nAnd that was that.",
        "numbers": "The 1000 2000 3000 4000 5000 6000 7000 of that house.",
        "german": "Der Hund und die Katze sind zu Hause und schlafen dort.",
        "formula": "The sum of all $a = 1 + 22 + 333 + 4444 + 5555$ is what the house of that cat costs.",
    },
    {
        "min_doc_words": Change(5, {"short"}),
        "max_doc_words": Change(50, {"long"}),
        "min_avg_word_length": Change(1.0, {"small words"}),
        "max_avg_word_length": Change(99.0, {"large words"}),
        "max_symbol_word_ratio": Change(1.0, {"hashes", "ellipses"}),
        "max_bullet_lines_ratio": Change(1.0, {"bullets"}),
        "max_ellipsis_lines_ratio": Change(1.0, {"dangling"}),
        "min_alpha_words_ratio": Change(0.1, {"numbers", "formula"}),
        "min_stop_words": Change(0, {"german"}),
        "stop_words": Change(["der", "und", "zu", "die"], {"plain", "german"}),
        "formulae": Change(True, {"formula"}),
    },
    {"min_doc_words": 7, "max_doc_words": 25},
    "en",
)
GOPHER_REPETITION = Bank(
    {
        "plain": unique(60),
        "paragraphs": "\n\n".join([unique(40), "Yes.", "Yes.", "Yes."]),
        "paragraph characters": "\n\n".join(["one", "two", "three", "four", unique(9), unique(9)]),
        "lines": "\n".join([unique(40), "Yes.", "Yes.", "Yes."]),
        "line characters": "\n".join(["one", "two", "three", "four", unique(9), unique(9)]),
        "top 2": apart("aaaa bbbb", 5, 3),
        "top 3": apart("aaaa bbbb cccc", 3, 8),
        "top 4": apart("aaaa bbbb cccc dddd", 2, 13),
        **{f"run of {size}": run_twice(size, others) for size, others in ((5, 25), (6, 29), (7, 32))},
        **{f"run of {size}": run_twice(size, others) for size, others in ((8, 37), (9, 41), (10, 45))},
    },
    {
        "dup_para_frac": Change(2.0, {"paragraphs"}),
        "dup_para_char_frac": Change(2.0, {"paragraph characters"}),
        "dup_line_frac": Change(2.0, {"lines"}),
        "dup_line_char_frac": Change(2.0, {"line characters"}),
        **{f"top_{size}_gram_char_frac": Change(2.0, {f"top {size}"}) for size in (2, 3, 4)},
        **{f"dup_{size}_gram_char_frac": Change(2.0, {f"run of {size}"}) for size in range(5, 11)},
    },
    {},
    "en",
)
C4 = Bank(
    {
        "plain": f"{PLAIN}\n{PLAIN}",
        "long word": f"{PLAIN}\n{PLAIN}\nA {'a' * 1001} it is.",
        "citations": f"{PLAIN}[1]\n{PLAIN}[edit]",
        "menu": f"{PLAIN}\n{PLAIN}\nHome of the menu",
        "few words": f"{PLAIN}\n{PLAIN}\nYes indeed.",
        "lorem": f"{PLAIN}\n{PLAIN}\nThis is Lorem Ipsum text.",
        "script": f"{PLAIN}\n{PLAIN}\nPlease enable JavaScript here.",
        "curly": f"{PLAIN}\n{PLAIN}\nAnd if (a) {{ b.",
        "policy": f"{PLAIN}\n{PLAIN}\nThis site uses cookies for all.",
        "one sentence": PLAIN,
        "formula": f"{PLAIN}\n{PLAIN}\nHence $x_{{1}}$ is found.",
    },
    {
        "max_word_length": Change(2000, {"long word"}),
        "remove_citations": Change(False, {"citations"}),
        "filter_no_terminal_punct": Change(False, {"menu"}),
        "min_words_per_line": Change(2, {"few words"}),
        "filter_lorem_ipsum": Change(False, {"lorem"}),
        "filter_javascript": Change(False, {"script"}),
        "filter_curly_bracket": Change(False, {"curly", "formula"}),
        "filter_policy": Change(False, {"policy"}),
        "min_num_sentences": Change(1, {"one sentence"}),
        "formulae": Change(True, {"formula"}),
    },
    {"min_num_sentences": 2},
    "en",
)
FINEWEB = Bank(
    {
        "plain": "\n".join(LINES),
        "menu": "\n".join(line.removesuffix(".") for line in LINES),
        "few ends": "\n".join([LINES[0], *(line.removesuffix(".") for line in LINES[1:])]),
        "short lines": "\n".join(f"The {number} cats sat on it." for number in range(6)),
        "twice": "\n".join([*LINES, LINES[0]]),
        "list": "\n".join(f"{number}{'x' * 40}." for number in range(6)),
    },
    {
        "line_punct_thr": Change(0.05, {"few ends"}),
        "line_punct_exclude_zero": Change(True, {"menu"}),
        "short_line_length": Change(10, {"short lines"}),
        "short_line_thr": Change(1.0, {"short lines"}),
        "char_duplicates_ratio": Change(0.5, {"twice"}),
        "new_line_ratio": Change(2.0, {"list"}),
    },
    {},
    "en",
)
REFINEDWEB = Bank(
    {
        "plain": "\n".join(LINES),
        "gaps": f"{PLAIN}\n\n\n\n{PLAIN}",
        "capitals": f"{PLAIN}\nALL OF IT FOR SALE\n{PLAIN}",
        "digits": f"{PLAIN}\n123 456\n{PLAIN}",
        "counter": f"{PLAIN}\n3 likes\n{PLAIN}",
        "one word": f"{PLAIN}\nMenu\n{PLAIN}",
        "phrase": f"{PLAIN}\nSome of it Read more...\n{PLAIN}",
        "frame": f"{PLAIN}\n" + "\n".join(["BUY IT NOW"] * 20),
    },
    {
        "max_consecutive_newlines": Change(4, {"gaps"}),
        "max_uppercase_ratio": Change(1.0, {"capitals", "frame"}),
        "max_numeric_ratio": Change(0.5, {"digits"}),
        "remove_counters": Change(False, {"counter"}),
        "min_words_per_line": Change(1, {"one word"}),
        "max_phrase_line_words": Change(0, {"phrase"}),
        "max_removed_words_ratio": Change(1.0, {"frame"}),
    },
    {"max_removed_words_ratio": 0.4},
    "en",
    touched={"gaps", "capitals", "counter", "one word", "phrase", "frame"},
)
CODE = Bank(
    {
        "plain": "def add(left, right):\n    return left + right\n",
        "lines": "x = first + 1\n" * 10,
        "long line": f"x = first\ny = {'first + ' * 8} last\nz = second\n",
        "wide": "value = first_value + second_value + third\n" * 2,
        "prose": {"text": f"{PLAIN} {PLAIN}", "code_language": "markdown"},
        "long prose": {"text": " ".join([PLAIN] * 4), "code_language": "markdown"},
        "symbols": "{}();\n[]<>;\n",
        "data": "ab cd ef 01 23 45 67 89\n(data)\n",
        "run": f"{'0x1f, ' * 9}\n" + "x = first + 1\n" * 5,
        "generated": "# one\n# two\n# This file is generated.\nx = 1\n",
    },
    {
        "max_lines": Change(20, {"lines"}),
        "max_line_length": Change(100, {"long line"}),
        "max_mean_line_length": Change(60.0, {"wide"}),
        "text_languages": Change(["json"], {"prose"}),
        "max_text_line_length": Change(400, {"long prose"}),
        "min_alphanumeric_share": Change(0.0, {"symbols"}),
        "max_encoded_share": Change(1.0, {"data"}),
        "max_encoded_run": Change(100, {"run"}),
        "generated_marks": Change(["made by hand"], {"generated"}),
        "generated_lines": Change(2, {"generated"}),
    },
    {
        "max_lines": 8,
        "max_line_length": 60,
        "max_mean_line_length": 40.0,
        "max_text_line_length": 200,
        "max_encoded_run": 50,
    },
    "en",
    touched={"lines", "long line", "wide", "long prose", "symbols", "data", "run", "generated"},
)


def characters(count: int, first: int = 0x4E00) -> str:
    """So many Chinese characters, each once, with a comma after every tenth."""
    codes = "".join(map(chr, range(first, first + count)))
    return "".join(f"{codes[place : place + 10]}，" for place in range(0, count, 10))


CJK = Bank(
    {
        "plain": characters(60),
        "short": characters(20),
        "short lines": "\n".join(characters(5, 0x4E00 + 5 * line) for line in range(12)),
        "few of them": f"{characters(10)} {unique(10)}",
        "repeated": characters(20) * 4,
        "punctuation": characters(30) + "★☆" * 20,
        "no sentences": characters(60).replace("，", ""),
    },
    {
        "min_characters": Change(10, {"short"}),
        "min_mean_line_length": Change(1.0, {"short lines"}),
        "min_script_share": Change(0.1, {"few of them"}),
        "max_repeated_share": Change(1.0, {"repeated"}),
        "max_punctuation_share": Change(1.0, {"punctuation"}),
        "min_sentence_marks_share": Change(0.0, {"no sentences"}),
    },
    {"min_characters": 40},
    "zh",
)
LETTERS = [" ".join(letter * length for length in range(1, 11)) for letter in "abcdef"]
SCIENCE = Bank(
    {
        "plain": "\n\n".join(LETTERS),
        "short": "\n\n".join(LETTERS[0].split()[:9]),
        "one paragraph": " ".join(LETTERS),
        "one word": "\n\n".join([*LETTERS, "word " * 20]),
        "table": "\n\n".join([*LETTERS, "42. 42."]),
        "formulae": "\n\n".join([*LETTERS, *(f"$${'x + y = z ' * 300}$$" for _ in range(3))]),
    },
    {
        "min_words": Change(5, {"short"}),
        "min_paragraphs": Change(1, {"one paragraph"}),
        "max_top_word_share": Change(1.0, {"one word"}),
        "alphabetic_top_word": Change(False, {"table"}),
        "max_formula_share": Change(1.0, {"formulae"}),
    },
    {"min_words": 20, "min_paragraphs": 3, "max_top_word_share": 0.15},
    "en",
)
WORDS = Bank({"plain": PLAIN, "chinese": characters(30)}, {}, {"keep": "word_count > 5"})
"""For the recipe's splitter of words: with spaces, and without."""
JUDGED = {
    "normalize": NORMALIZE,
    "length": LENGTH,
    "repetition": REPETITION,
    "language": LANGUAGE,
    "expression": EXPRESSION,
    "gopher_quality": GOPHER_QUALITY,
    "gopher_repetition": GOPHER_REPETITION,
    "c4": C4,
    "fineweb": FINEWEB,
    "refinedweb": REFINEDWEB,
    "code": CODE,
    "cjk": CJK,
    "science": SCIENCE,
}
"""The banks of the steps that need nothing but the text, by the name of the step."""

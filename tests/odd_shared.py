"""Odd texts for the steps that compare a text with others of its corpus or with files; see odd_texts.py.

What MinHash finds is certain only for equal texts. The texts here are so like or so unlike that it nearly is; which
they are that it finds is the same on every machine.
"""

from __future__ import annotations

import json

from odd_texts import LINES, PLAIN, Bank, Change, unique


def whitespace_tokenizer(*words: str) -> str:
    """A tokenizer.json with these words, and the rest unknown."""
    vocabulary = {word: number for number, word in enumerate(["[UNK]", *words])}
    model = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}
    parts = dict.fromkeys(("truncation", "padding", "normalizer", "post_processor", "decoder"))
    tokenizer = {"version": "1.0", "added_tokens": [], **parts, "model": model}
    return json.dumps({**tokenizer, "pre_tokenizer": {"type": "WhitespaceSplit"}})


URL = Bank(
    {
        "plain": {"text": PLAIN, "url": "https://example.org/cats/the-first"},
        "own domain": {"text": PLAIN, "url": "https://www.adultfriendfinder.com/"},
        "domain": {"text": PLAIN, "url": "https://www.spam.example.net/page"},
        "address": {"text": PLAIN, "url": "https://example.org/one/page?id=7"},
        "hard word": {"text": PLAIN, "url": "https://example.org/of/hardword/it"},
        "soft words": {"text": PLAIN, "url": "https://example.org/softly/softer"},
        "word part": {"text": PLAIN, "url": "https://example.org/all-part-of-it"},
        "no address": PLAIN,
    },
    {
        "own_lists": Change(False, {"own domain"}),
        "domain_lists": Change([], {"domain"}),
        "url_lists": Change([], {"address"}),
        "hard_word_lists": Change([], {"hard word"}),
        "soft_word_lists": Change([], {"soft words"}),
        "part_lists": Change([], {"word part"}),
        "min_soft_words": Change(3, {"soft words"}),
        "missing": Change("drop", {"no address"}),
    },
    {
        "domain_lists": ["domains.txt"],
        "url_lists": ["urls.txt"],
        "part_lists": ["parts.txt"],
        "hard_word_lists": ["hard.txt"],
        "soft_word_lists": ["soft.txt"],
    },
    files={
        "domains.txt": "spam.example.net\n",
        "urls.txt": "http://example.org/one/page?id=7\n",
        "hard.txt": "hardword\n",
        "soft.txt": "softly\nsofter\n",
        "parts.txt": "partof\n",
    },
    touched={"own domain", "domain", "address", "hard word", "soft words", "word part"},
)
EXACT = Bank(
    {
        "plain": "\n".join(LINES[:4]),
        "twin": "\n".join(LINES[:4]),
        "spaced": "\n".join(LINES[:4]).replace(" ", "  "),
        "one line": f"Here is a line of another.\n{LINES[2]}",
        "earlier": "A text that was there before.",
    },
    {
        "ignore_white_space": Change(False, {"spaced"}),
        "unit": Change("line", {"twin", "spaced", "one line"}),
        "min_characters": Change(100, {"twin", "spaced", "one line"}, {"unit": "line"}),
        "against": Change(["earlier.jsonl"], {"earlier"}),
    },
    files={"earlier.jsonl": json.dumps({"text": "A text that was there  before."})},
    touched={"twin", "spaced"},
)
MINHASH = Bank(
    {
        "plain": unique(200),
        "near": f"{unique(100)} other {unique(99, 101)} and some more",
        "far": f"{unique(54)} {unique(46, 1000)}",
        "earlier": unique(60, 2000),
    },
    {
        "ngram": Change(300, {"near"}),
        "bands": Change(1, {"near"}),
        "rows": Change(1, {"far"}),
        "threshold": Change(0.1, {"far"}, {}),
        "hashes": Change(1, {"far"}, {"threshold": 0.1}),
        "min_jaccard": Change(0.99, {"near"}),
        "keep": Change("longest", {"plain", "near"}),
        "seed": Change(4, {"far"}, {"bands": 1, "rows": 1}),
        "against": Change(["earlier.jsonl"], {"earlier"}),
    },
    {"bands": 50, "rows": 20},
    files={"earlier.jsonl": json.dumps({"text": unique(60, 2000)})},
    touched={"near"},
)
SHARED_RUN = "with these words that both have in"
SUBSTRINGS = Bank(
    {
        "plain": unique(30),
        "first": f"One begins {SHARED_RUN} common, as one sees.",
        "second": f"Another ends {SHARED_RUN} common though.",
    },
    {"min_words": Change(20, {"second"}), "keep": Change("none", {"first"})},
    {"min_words": 6},
    touched={"second"},
)
FOOTER = "All of it belongs to someone."
BOILERPLATE = Bank(
    {"plain": PLAIN, **{f"page {number}": f"{LINES[number]}\n{FOOTER}" for number in range(3)}},
    {
        "min_documents": Change(4, {"page 0", "page 1", "page 2"}),
        "min_characters": Change(100, {"page 0", "page 1", "page 2"}),
    },
    {"min_documents": 3},
)
QUESTION = "Which river flows through the old town of Heidelberg before it meets the Rhine?"
ANSWER = "It is the Neckar that comes from the Black Forest and goes by Tübingen and Stuttgart."
LONG_WORDS = "Counterrevolutionaries misunderstood internationalization."
DECONTAMINATE = Bank(
    {
        "plain": PLAIN,
        "question": f"Quiz night. {QUESTION} Beer was had.",
        "answer": f"Quiz night. {ANSWER} Beer was had.",
        "part": f"Nobody asked {' '.join(QUESTION.split()[:6])} at all.",
        "long words": f"They say: {LONG_WORDS} And so on.",
        "other": " ".join(LINES[:2]),
    },
    {
        "against": Change(["other.txt"], {"question", "answer", "other"}),
        "fields": Change(["question"], {"answer"}),
        "unit": Change("characters", {"long words"}),
        "ngram": Change(5, {"part"}),
        "tokenizer": Change(
            "few.json", {"plain", "other"},
            {"against": ["quiz.jsonl"], "unit": "tokens", "tokenizer": "all.json", "ngram": 12},
        ),
        "max_share": Change(0.9, {"question", "answer"}),
        "action": Change("cut", {"question", "answer"}),
    },
    {"against": ["quiz.jsonl"]},
    files={
        "quiz.jsonl": json.dumps({"question": QUESTION, "answer": ANSWER, "hint": LONG_WORDS}),
        "other.txt": " ".join(LINES[:2]),
        "all.json": whitespace_tokenizer(*sorted({*QUESTION.split(), *ANSWER.split(), *LONG_WORDS.split()})),
        "few.json": whitespace_tokenizer("river"),
    },
    touched={"question", "answer"},
)  # fmt: skip
COMPARED = {
    "url": URL,
    "exact": EXACT,
    "minhash": MINHASH,
    "substrings": SUBSTRINGS,
    "boilerplate": BOILERPLATE,
    "decontaminate": DECONTAMINATE,
}
"""The banks by the name of the step."""

"""The published rules over Python strings, slow and obvious: what the kernels of danlu.rules are compared with.

Texts that are hard for them are here too.
"""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import strategies as st

from danlu.words.classes import PUNCTUATION_MARKS, TERMINAL_MARKS

PIECES = [
    *(
        "the",
        "of",
        "a",
        "ab",
        "c",
        "bc",
        "0",
        "00",
        "l'été",
        "文字",
        "句子。",
        "😀",
        "\ud800",
        "\0",
        "...",
        "…",
        "....",
        "#",
        "-",
        "•",
    ),
    *(
        " ",
        "  ",
        "\t",
        "\n",
        "\n\n",
        "\n\n\n",
        "\r\n",
        "\r",
        "\x0b",
        "\x1c",
        "\x85",
        "\u2028",
        "\u3000",
        "\xa0",
    ),
    *(
        ".",
        "?!",
        '."',
        "'",
        "{",
        "[1]",
        "[]",
        "[²]",
        "[٣]",
        "[edit]",
        "[citation needed]",
        "[",
        "]",
        "java[2]script",
    ),
    *(
        "lorem ipsum",
        "Lorem İpsum",
        "JavaScript",
        "coo\u212aie policy",
        "Terms of Use",
        "use cookies",
        "x" * 1001,
    ),
]
"""What texts are put together from: words, marks of every script, breaks of lines, what the rules look for."""

TEXTS = st.lists(st.sampled_from(PIECES), max_size=60).map("".join) | st.lists(
    st.sampled_from(["one two three.", "a a a", "", "- b", "end…", "{", " "]), max_size=20
).map("\n".join)

EDGES = (
    "",
    " ",
    "\n",
    "\n\n\n",
    " \n\t",
    "a",
    "a\n",
    "one two",
    "\0",
    "\u3000",
    "w" * 200_000,
    "the\r\n\r\nthe",
)


def gopher_quality(text: str, words: list[str], stop_words: list[str]) -> dict[str, float]:
    """Measures by name; a ratio over nothing is left out."""
    prose = [word for word in words if any(c not in PUNCTUATION_MARKS + TERMINAL_MARKS for c in word)]
    lines = text.splitlines()
    measures: dict[str, float] = {"words": len(prose), "stop_words": len({*stop_words} & {*words})}
    if prose:
        measures["mean_word_length"] = sum(map(len, prose)) / len(prose)
    if words:
        measures["hash_word_ratio"] = text.count("#") / len(words)
        measures["ellipsis_word_ratio"] = (text.count("...") + text.count("…")) / len(words)
        letters = [word for word in words if any(map(str.isalpha, word))]
        measures["alpha_words_ratio"] = len(letters) / len(words)
    if lines:
        bullets = [line for line in lines if line.lstrip().startswith(("•", "-"))]
        ellipses = [line for line in lines if line.rstrip().endswith(("...", "…"))]
        measures["bullet_lines_ratio"] = len(bullets) / len(lines)
        measures["ellipsis_lines_ratio"] = len(ellipses) / len(lines)
    return measures


def repeated(pieces: list[str]) -> tuple[int, int]:
    """Second and later occurrences, and their characters."""
    again = [piece for place, piece in enumerate(pieces) if piece in pieces[:place]]
    return len(again), sum(map(len, again))


def top_characters(words: list[str], size: int) -> int:
    """Characters of all occurrences of the most frequent n-gram, the earliest among equals."""
    grams = [" ".join(words[place : place + size]) for place in range(len(words) - size + 1)]
    if not grams:
        return 0
    gram, count = Counter(grams).most_common(1)[0]
    return len(gram) * count


def duplicate_characters(words: list[str], size: int) -> int:
    """Characters of n-grams that occurred before, from left to right without overlap."""
    seen: set[str] = set()
    place, characters = 0, 0
    while place < len(words) - size + 1:
        gram = "".join(words[place : place + size])
        if gram in seen:
            characters += len(gram)
            place += size
        else:
            seen.add(gram)
            place += 1
    return characters


def gopher_repetition(text: str, words: list[str]) -> dict[str, float]:
    """Measures by name, of a text that is not empty."""
    paragraphs, lines = re.split(r"\n{2,}", text.strip()), re.split("\n+", text)
    characters = {
        **{f"top_{size}_gram_char_frac": top_characters(words, size) for size in (2, 3, 4)},
        **{f"dup_{size}_gram_char_frac": duplicate_characters(words, size) for size in range(5, 11)},
        "dup_para_char_frac": repeated(paragraphs)[1],
        "dup_line_char_frac": repeated(lines)[1],
    }
    return {
        "characters": len(text),
        "dup_para_frac": repeated(paragraphs)[0] / len(paragraphs),
        "dup_line_frac": repeated(lines)[0] / len(lines),
        **{name: count / len(text) for name, count in characters.items()},
    }


def fineweb(text: str, words: list[str], short_line_length: int) -> dict[str, float]:
    """Measures by name; only `lines` where there are none."""
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return {"lines": 0}
    return {
        "lines": len(lines),
        "line_punct_ratio": sum(line.endswith(tuple(TERMINAL_MARKS)) for line in lines) / len(lines),
        "short_line_ratio": sum(len(line) <= short_line_length for line in lines) / len(lines),
        "char_duplicates_ratio": repeated(lines)[1] / len(text.replace("\n", "")),
        "new_line_ratio": text.count("\n") / len(words),
    }


def c4_line(
    line: str, *, long: int, citations: bool, ended: bool, few: int, javascript: bool, policy: bool
) -> tuple[str, str]:
    """A line without what is cut out of it, and what cuts the line, "" where nothing does."""
    line = line.strip()
    words = line.split()
    if any(len(word) > long for word in words):
        return line, "long_word_lines"
    if citations:
        line = re.sub(r"\[\d*]|\[edit]|\[citation needed]", "", line)
    if ended and (not line.endswith((".", "?", "!", '"', "'")) or line.endswith("...")):
        return line, "no_terminal_punct_lines"
    if len(words) < few:
        return line, "few_words_lines"
    lowered = line.lower()
    if javascript and "javascript" in lowered:
        return line, "javascript_lines"
    policies = (
        "terms of use",
        "privacy policy",
        "cookie policy",
        "uses cookies",
        "use of cookies",
        "use cookies",
    )
    return line, "policy_lines" if policy and any(phrase in lowered for phrase in policies) else ""


def c4(text: str, **rules: bool | int) -> tuple[dict[str, float], list[str]]:
    """Measures by name, without the sentences, and the lines that stay."""
    measures = Counter[str]()
    kept: list[str] = []
    for number, source in enumerate(text.splitlines(), 1):
        line, cause = c4_line(source, **rules)  # type: ignore[arg-type]
        measures["lines"] += 1
        measures[cause or "kept_lines"] += 1
        if cause in ("", "javascript_lines", "policy_lines") and "lorem ipsum" in line.lower():
            measures["lorem_ipsum_line"] = measures["lorem_ipsum_line"] or number
        if cause in ("", "policy_lines") and "{" in line:
            measures["curly_bracket_line"] = measures["curly_bracket_line"] or number
        if not cause:
            kept.append(line)
    return dict(measures), kept

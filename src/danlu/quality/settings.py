"""The recipe's `[[corpus.step]]` tables of this folder: normalisation, length, repetition, language, signals."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from danlu.config import Section, nearest
from danlu.expressions import read_condition

LANGUAGE = "language"
SIGNALS = (
    *("length", "nlines", "word_count", "mean_word_length", "num_sentences", "symbol_to_word_ratio"),
    *("frac_no_alph_words", "frac_all_caps_words", "frac_unique_words", "unigram_entropy"),
    *("stop_word_fraction", "curly_bracket", "lorem_ipsum", "frac_lines_end_with_ellipsis"),
    *(
        "frac_lines_ending_with_terminal_punctuation",
        "frac_lines_start_with_bulletpoint",
        "javascript_counts",
    ),
    *("mean_line_num_words", "mean_line_uppercase_letter_fraction", "mean_line_numerical_chars_fraction"),
    *("frac_chars_top_2gram", "frac_chars_top_3gram", "frac_chars_top_4gram"),
    *("frac_chars_dupe_5grams", "frac_chars_dupe_6grams", "frac_chars_dupe_7grams"),
    *("frac_chars_dupe_8grams", "frac_chars_dupe_9grams", "frac_chars_dupe_10grams"),
)
"""The names of the quality signals, as expressions use them; `signals.py` says what each is."""

_CODES = (
    "af als am an ar arz as ast av az azb ba bar bcl be bg bh bn bo bpy br bs bxr ca cbk ce ceb ckb co cs "
    "cv cy da de diq dsb dty dv el eml en eo es et eu fa fi fr frr fy ga gd gl gn gom gu gv he hi hif hr "
    "hsb ht hu hy ia id ie ilo io is it ja jbo jv ka kk km kn ko krc ku kv kw ky la lb lez li lmo lo lrc "
    "lt lv mai mg mhr min mk ml mn mr mrj ms mt mwl my myv mzn nah nap nds ne new nl nn no oc or os pa "
    "pam pfl pl pms pnb ps pt qu rm ro ru rue sa sah sc scn sco sd sh si sk sl so sq sr su sv sw ta te tg "
    "th tk tl tr tt tyv ug uk ur uz vec vep vi vls vo wa war wuu xal xmf yi yo yue zh "
)
LANGUAGES = frozenset(_CODES.split())
"""What the language identification knows (lid.176): ISO 639-1 where there is one, else 639-3."""


def known_languages(codes: list[str]) -> list[str]:
    """The codes, where all are known. Raises ValueError with the nearest."""
    for code in codes:
        if code not in LANGUAGES:
            raise ValueError(f"no language has the code {code!r}; {nearest(code, sorted(LANGUAGES))}")
    return codes


Languages = Annotated[list[str], AfterValidator(known_languages)]


class Normalize(Section):
    """Unicode form, line ends, control characters; drops what has lost characters to a bad decoding."""

    use: Literal["normalize"] = "normalize"
    unicode: Literal["NFC", "none"] = "NFC"
    max_replacement_share: float = Field(default=0.001, ge=0.0, le=1.0)
    """Share of U+FFFD above which a document is dropped as damaged."""
    repair: bool = True
    """UTF-8 that was read as Windows-1252 or Latin-1 ("cafÃ©") becomes what it was, where that is certain."""


class Length(Section):
    """Documents outside the range of characters are dropped."""

    use: Literal["length"] = "length"
    min_characters: int = Field(default=32, ge=0)
    max_characters: int = Field(default=10_000_000, gt=0)

    @model_validator(mode="after")
    def _ordered(self) -> Length:
        if self.min_characters > self.max_characters:
            raise ValueError("min_characters is above max_characters")
        return self


class Repetition(Section):
    """Gopher's line repetition (Rae et al. 2021, table A1), plus one run of a single character."""

    use: Literal["repetition"] = "repetition"
    max_duplicate_line_share: float = Field(default=0.3, ge=0.0, le=1.0)
    """Duplicate lines over all non-empty lines."""
    max_duplicate_character_share: float = Field(default=0.2, ge=0.0, le=1.0)
    """Characters in duplicate lines over all characters."""
    max_character_share: float = Field(default=0.5, ge=0.0, le=1.0)
    """Share of the most frequent character that is not white space."""


class Language(Section):
    """Languages by fastText's lid.176; published (RefinedWeb, FineWeb, DCLM): English at 0.65 or more."""

    use: Literal["language"] = "language"
    keep: Languages = Field(default=[])
    """Codes as the model gives them: ISO 639-1, else 639-3 ("en", "zh", "yue"). Empty: all that are sure."""
    min_score: float = Field(default=0.65, gt=0.2, le=1.0)
    """The share of certainty from which a language is sure. Published: 0.65."""
    min_letters: int = Field(default=20, ge=0)
    """Texts with fewer letters are short: "OK" has no language that could be told. Ours."""
    short: Literal["keep", "drop"] = "drop"
    """What happens to short texts: `short`."""
    unsure: Literal["keep", "drop"] = "drop"
    """What happens to texts without a sure language: `unsure`. Lists, tables and technical prose often are."""
    code: Literal["keep", "measure"] = "keep"
    """"keep": documents with a `code_language` pass without being measured."""


class Signals(Section):
    """Stores every quality signal of every document (as RedPajama-v2 does) and drops none."""

    use: Literal["signals"] = "signals"


class Expression(Section):
    """Documents for which an expression over their quality signals is false are dropped."""

    use: Literal["expression"] = "expression"
    keep: str = Field(min_length=1, max_length=2000)
    """E.g. "word_count > 50 and mean_word_length < 10 and language == 'en'": comparisons, and, or, not, in,
    + - * / and numbers over the signals' names; `language` is compared with texts."""
    reason: str = Field(default="false", pattern=r"^[a-z][a-z0-9_]*$")
    """What the report calls this drop: `expression.false`."""

    @field_validator("keep")
    @classmethod
    def _understood(cls, keep: str) -> str:
        read_condition(keep, SIGNALS, (LANGUAGE,))
        return keep

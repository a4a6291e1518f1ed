"""The recipe's `[[corpus.step]]` tables of this folder: the published rules, every threshold a key.

Decides: a default is the published value; a measure equal to its threshold keeps the document. Costs: nothing.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from danlu.config import Section
from danlu.quality.settings import Languages


class Rule(Section):
    """What every rule set has in common."""

    languages: Languages = Field(default=[])
    """Only documents of these languages are measured, as the step `language` or their source names them; empty: all."""
    domains: list[str] = Field(default=[])
    """Only documents of these domains are measured, e.g. `code` of code alone; empty: all."""

    def concerns(self, language: str, domain: str) -> bool:
        """Whether a document is measured."""
        in_language = not self.languages or language in self.languages
        return in_language and (not self.domains or domain in self.domains)


class GopherQuality(Rule):
    """Gopher's quality rules (Rae et al. 2021, section A1.1) as FineWeb applies them, in this order."""

    use: Literal["gopher_quality"] = "gopher_quality"
    min_doc_words: int = Field(default=50, ge=0)
    """Words with a character that is no punctuation; fewer: `short_doc`. Published: 50."""
    max_doc_words: int = Field(default=100_000, ge=0)
    """The same count; more: `long_doc`. Published: 100,000."""
    min_avg_word_length: float = Field(default=3.0, ge=0.0)
    """Mean characters of those words; less: `below_avg_threshold`. Published: 3."""
    max_avg_word_length: float = Field(default=10.0, ge=0.0)
    """Mean characters of those words; more: `above_avg_threshold`. Published: 10."""
    max_symbol_word_ratio: float = Field(default=0.1, ge=0.0)
    """`#` over all words, and `...` and `…` over all words; more: `too_many_hashes`, `too_many_ellipsis`.
    Published: 0.1."""
    max_bullet_lines_ratio: float = Field(default=0.9, ge=0.0)
    """Share of lines that begin with `•` or `-`; more: `too_many_bullets`. Published: 0.9."""
    max_ellipsis_lines_ratio: float = Field(default=0.3, ge=0.0)
    """Share of lines that end with `...` or `…`; more: `too_many_end_ellipsis`. Published: 0.3."""
    min_alpha_words_ratio: float = Field(default=0.8, ge=0.0)
    """Share of all words with a letter; less: `below_alpha_threshold`. Published: 0.8."""
    min_stop_words: int = Field(default=2, ge=0)
    """Different stop words that occur; fewer: `enough_stop_words`. Published: 2."""
    stop_words: list[str] = Field(default=["the", "be", "to", "of", "and", "that", "have", "with"])
    """Compared with their case. The published ones are English: for other languages name your own, or none with
    min_stop_words = 0."""
    formulae: bool = False
    """true: formulae count neither as words nor as symbols. Published: they do."""

    @model_validator(mode="after")
    def _ordered(self) -> GopherQuality:
        if self.min_doc_words > self.max_doc_words:
            raise ValueError("min_doc_words is above max_doc_words")
        if self.min_avg_word_length > self.max_avg_word_length:
            raise ValueError("min_avg_word_length is above max_avg_word_length")
        return self


class GopherRepetition(Rule):
    """Gopher's repetition rules (Rae et al. 2021, table A1) as FineWeb applies them; more than a key drops."""

    use: Literal["gopher_repetition"] = "gopher_repetition"
    dup_para_frac: float = Field(default=0.3, ge=0.0)
    """Paragraphs that occurred before, over all paragraphs. Published: 0.3."""
    dup_para_char_frac: float = Field(default=0.2, ge=0.0)
    """Characters of paragraphs that occurred before, over all characters. Published: 0.2."""
    dup_line_frac: float = Field(default=0.3, ge=0.0)
    """Lines that occurred before, over all lines. Published: 0.3."""
    dup_line_char_frac: float = Field(default=0.2, ge=0.0)
    """Characters of lines that occurred before, over all characters. Published: 0.2."""
    top_2_gram_char_frac: float = Field(default=0.2, ge=0.0)
    """Characters of the most frequent pair of words, over all characters: `top_2_gram`. Published: 0.2."""
    top_3_gram_char_frac: float = Field(default=0.18, ge=0.0)
    """As above for 3 words: `top_3_gram`. Published: 0.18."""
    top_4_gram_char_frac: float = Field(default=0.16, ge=0.0)
    """As above for 4 words: `top_4_gram`. Published: 0.16."""
    dup_5_gram_char_frac: float = Field(default=0.15, ge=0.0)
    """Characters of runs of 5 words that occurred before, over all: `duplicated_5_n_grams`. Published: 0.15."""
    dup_6_gram_char_frac: float = Field(default=0.14, ge=0.0)
    """As above for 6 words: `duplicated_6_n_grams`. Published: 0.14."""
    dup_7_gram_char_frac: float = Field(default=0.13, ge=0.0)
    """As above for 7 words: `duplicated_7_n_grams`. Published: 0.13."""
    dup_8_gram_char_frac: float = Field(default=0.12, ge=0.0)
    """As above for 8 words: `duplicated_8_n_grams`. Published: 0.12."""
    dup_9_gram_char_frac: float = Field(default=0.11, ge=0.0)
    """As above for 9 words: `duplicated_9_n_grams`. Published: 0.11."""
    dup_10_gram_char_frac: float = Field(default=0.1, ge=0.0)
    """As above for 10 words: `duplicated_10_n_grams`. Published: 0.1."""


class C4(Rule):
    """C4's rules (Raffel et al. 2020, section 2.2): keeps good lines, drops what has too few sentences left."""

    use: Literal["c4"] = "c4"
    max_word_length: int = Field(default=1000, ge=0)
    """Lines with a longer word (characters between white space) are cut. Published: 1,000."""
    remove_citations: bool = True
    """`[1]`, `[]`, `[edit]` and `[citation needed]` are cut out of lines. Published: true."""
    filter_no_terminal_punct: bool = True
    """Lines that end in none of . ? ! " ' or in `...` are cut. Published: true; FineWeb: false."""
    min_words_per_line: int = Field(default=3, ge=0)
    """Lines with fewer words (between white space) are cut. Published: 3."""
    filter_lorem_ipsum: bool = True
    """Documents with "lorem ipsum" in a line that got so far are dropped: `lorem_ipsum`. Published: true."""
    filter_javascript: bool = True
    """Lines that name "javascript" are cut. Published: true."""
    filter_curly_bracket: bool = True
    """Documents with `{` in a line that got so far are dropped: `curly_bracket`. Published: true."""
    filter_policy: bool = True
    """Lines about cookies, terms of use and privacy policies are cut. Published: true."""
    min_num_sentences: int = Field(default=5, ge=0)
    """Sentences in the lines that stay; fewer: `too_few_sentences`. Published: 5."""
    formulae: bool = False
    """true: a formula's brackets and braces are not looked at, and a line within a formula stays as it is.
    Published: false, which drops whatever has a `{`."""


class FineWeb(Rule):
    """FineWeb's own rules (Penedo et al. 2024, section 3.6), about pages that are lists rather than prose."""

    use: Literal["fineweb"] = "fineweb"
    line_punct_thr: float = Field(default=0.12, ge=0.0)
    """Share of lines that end in a terminal mark of any script; less: `line_punct_ratio`. Published: 0.12."""
    line_punct_exclude_zero: bool = False
    """true: a document without any such line passes that rule. Published: false."""
    short_line_length: int = Field(default=30, ge=0)
    """Characters up to which a line is short. Published: 30."""
    short_line_thr: float = Field(default=0.67, ge=0.0)
    """Share of short lines; more: `short_line_ratio`. Published: 0.67."""
    char_duplicates_ratio: float = Field(default=0.01, ge=0.0)
    """Characters of lines that occurred before, over all characters; more: `char_dup_ratio`. Published: 0.01."""
    new_line_ratio: float = Field(default=0.3, ge=0.0)
    """Line breaks over words; more: `list_ratio`. Published: 0.3."""


class RefinedWeb(Rule):
    """RefinedWeb's line-wise corrections (Penedo et al. 2023, table 2) as DCLM-Baseline applies them: lines and
    phrases are cut, and a document that lost too many words is dropped."""

    use: Literal["refinedweb"] = "refinedweb"
    max_consecutive_newlines: int = Field(default=2, ge=1)
    """Longer runs of line feeds are cut to this many. Published: 2."""
    max_uppercase_ratio: float = Field(default=0.5, ge=0.0, le=1.0)
    """Lines with a larger share of capitals among their characters are cut. Published: 0.5."""
    max_numeric_ratio: float = Field(default=0.999999, ge=0.0, le=1.0)
    """Lines with a larger share of digits are cut. Published: lines of digits alone."""
    remove_counters: bool = True
    """Lines such as `3 likes` or `1.2k views` are cut. Published: true."""
    min_words_per_line: int = Field(default=2, ge=0)
    """Lines with fewer words are cut; empty lines stay. Published: 2."""
    max_phrase_line_words: int = Field(default=10, ge=0)
    """From lines of at most so many words, `items in cart`, a `Read more...` at the end and a `Sign-in` at the
    start are cut; 0 cuts none. Published: 10."""
    max_removed_words_ratio: float = Field(default=0.05, ge=0.0, le=1.0)
    """Words that all this cut, over all words; more: `removed_words`. Published: 0.05."""


class Code(Rule):
    """Rules for source code (Li et al. 2023, The Stack and StarCoder; Lozhkov et al. 2024, StarCoder2)."""

    use: Literal["code"] = "code"
    max_lines: int = Field(default=100_000, ge=0)
    """More: `too_many_lines`. Published (StarCoder2): 100,000."""
    max_line_length: int = Field(default=1000, ge=0)
    """Characters of the longest line; more: `long_line`. Published: 1,000."""
    max_mean_line_length: float = Field(default=100.0, ge=0.0)
    """Mean characters of a line; more: `long_mean_line`, which minified files have. Published: 100."""
    text_languages: list[str] = Field(
        default=["html", "json", "markdown", "roff", "roff manpage", "smt", "tex", "text", "xml"]
    )
    """Languages of prose and data, by the document's `code_language`: their lines are as long as paragraphs."""
    max_text_line_length: int = Field(default=100_000, ge=0)
    """The longest line that those languages may have; their mean is free. Published (StarCoder2): 100,000."""
    min_alphanumeric_share: float = Field(default=0.25, ge=0.0, le=1.0)
    """Share of letters and digits among all characters; less: `few_letters`. Published (The Stack): 0.25."""
    max_encoded_share: float = Field(default=0.5, ge=0.0, le=1.0)
    """Share of characters in runs of base64, hexadecimal or escaped data; more: `encoded_data`.
    Published (StarCoder2): 0.5."""
    max_encoded_run: int = Field(default=1024, ge=0)
    """Characters of the longest such run; more: `encoded_data`. Published (StarCoder2): 1,024."""
    generated_marks: list[str] = Field(
        default=[
            *("auto-generated", "autogenerated", "automatically generated", "generated automatically"),
            *("this file is generated", "@generated", "code generated by", "do not edit"),
        ]
    )
    """Phrases, in any case, that say in the first lines that a program wrote the file: `generated`. Published
    (StarCoder2): the first five; ours besides: a map to the source, in the last lines. Empty: none is looked for."""
    generated_lines: int = Field(default=5, ge=0)
    """First lines in which those phrases count. Published: 5."""


class Cjk(Rule):
    """Rules for scripts without spaces, where words and stop words say nothing (Chen et al. 2023, ChineseWebText);
    a text of other scripts is not judged."""

    use: Literal["cjk"] = "cjk"
    min_characters: int = Field(default=200, ge=0)
    """Fewer characters: `short`. Published: 200."""
    min_mean_line_length: float = Field(default=10.0, ge=0.0)
    """Mean characters of a line; less: `short_lines`. Published: 10."""
    min_script_share: float = Field(default=0.3, ge=0.0, le=1.0)
    """Share of characters of scripts without spaces among all; less: `few_script`. Published, of Han: 0.3."""
    max_repeated_share: float = Field(default=0.5, ge=0.0, le=1.0)
    """Share of runs of 13 characters that occur more than once; more: `repeated`. Published: 0.5."""
    max_punctuation_share: float = Field(default=0.4, ge=0.0, le=1.0)
    """Share of punctuation and symbols among characters that are not white space; more: `punctuation`. Ours."""
    min_sentence_marks_share: float = Field(default=0.005, ge=0.0, le=1.0)
    """Marks that end or divide sentences, over characters; less: `no_sentences`, such as lists of search words.
    Ours."""


class Science(Rule):
    """Rules for papers, over their prose without formulae (Soldaini and Lo 2023, peS2o)."""

    use: Literal["science"] = "science"
    min_words: int = Field(default=500, ge=0)
    """Words outside formulae; fewer: `short`. Published: 500."""
    min_paragraphs: int = Field(default=5, ge=0)
    """Parts between blank lines; fewer: `few_paragraphs`. Published: 5."""
    max_top_word_share: float = Field(default=0.075, ge=0.0, le=1.0)
    """The most frequent word over all words; more: `top_word`. Published: 0.075."""
    alphabetic_top_word: bool = True
    """The most frequent word is of letters alone, else `top_word`: tables and broken layouts have it otherwise.
    Published: true."""
    max_formula_share: float = Field(default=0.9, ge=0.0, le=1.0)
    """Share of characters in formulae; more: `formulae`. Ours."""


class Url(Section):
    """Addresses: domains and words of adult, advertising and low-quality sites (Penedo et al. 2023, section 3.1).
    A user's lists are text files, one entry a line, `#` begins a comment."""

    PATHS: ClassVar = ("domain_lists", "url_lists", "hard_word_lists", "soft_word_lists", "part_lists")
    use: Literal["url"] = "url"
    own_lists: bool = True
    """The small lists that come with this package: a start, not a block list of the web."""
    domain_lists: list[str] = Field(default=[])
    """Files of domains; one of them, or anything under it: `domain`."""
    url_lists: list[str] = Field(default=[])
    """Files of addresses; the very address: `address`."""
    hard_word_lists: list[str] = Field(default=[])
    """Files of words, one of which is enough: `hard_word`."""
    soft_word_lists: list[str] = Field(default=[])
    """Files of words that need company: `soft_words`."""
    part_lists: list[str] = Field(default=[])
    """Files of parts of words, looked for in the address without its punctuation: `word_part`."""
    min_soft_words: int = Field(default=2, ge=1)
    """Different soft words that drop. Published: 2."""
    missing: Literal["keep", "drop"] = "keep"
    """What happens to a document without an address: `missing`."""

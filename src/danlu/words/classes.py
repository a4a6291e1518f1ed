"""What each code point is, as one table of bit flags that every kernel looks up.

Decides: spaces, letters, digits, capitals and line breaks are Python's own (`str.isspace` and so on), so that a rule
written over the table equals the published one written over strings. The marks of punctuation and of sentence ends
are the published tables of datatrove 0.10.1 (`utils/text.py`). UNSPACED is the letters and vowel signs of scripts
that put no space between words. Costs: 60 ms to build, once a process; 1.1 MB.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np
import numpy.typing as npt

SPACE = 1
ALPHA = 2
PUNCTUATION = 4
TERMINAL = 8
LINE_BREAK = 16
UPPER = 32
DIGIT = 64
UNSPACED = 128

CODE_POINTS = 0x110000
ASSIGNED = 0x34000
"""Above it stand no letters, digits or spaces: variation selectors and private use alone."""

TERMINAL_HEX = (
    "0021 002e 003f 0589 061d 061e 061f 06d4 0700 0701 0702 07f9 0837 0839 083d 083e 0964 0965 104a 104b "
    "1362 1367 1368 166e 1735 1736 17d4 17d5 17d6 17d9 17da 1803 1809 1944 1945 1aa8 1aa9 1aaa 1aab 1b5a "
    "1b5b 1b5e 1b5f 1b7d 1b7e 1c3b 1c3c 1c7e 1c7f 203c 203d 2047 2048 2049 2e2e 2e3c 2e53 2e54 3002 a4ff "
    "a60e a60f a6f3 a6f7 a876 a877 a8ce a8cf a92f a9c8 a9c9 aa5d aa5e aa5f aaf0 aaf1 abeb fe52 fe56 fe57 "
    "ff01 ff0e ff1f ff61 10a56 10a57 10f55 10f56 10f57 10f58 10f59 10f86 10f87 10f88 10f89 11047 11048 "
    "110be 110bf 110c0 110c1 11141 11142 11143 111c5 111c6 111cd 111de 111df 11238 11239 1123b 1123c "
    "112a9 1144b 1144c 115c2 115c3 115c9 115ca 115cb 115cc 115cd 115ce 115cf 115d0 115d1 115d2 115d3 "
    "115d4 115d5 115d6 115d7 11641 11642 1173c 1173d 1173e 11944 11946 11a42 11a43 11a9b 11a9c 11c41 "
    "11c42 11ef7 11ef8 11f43 11f44 16a6e 16a6f 16af5 16b37 16b38 16b44 16e98 1bc9f 1da88"
)
TERMINAL_MARKS = "".join(chr(int(code, 16)) for code in TERMINAL_HEX.split())
"""The 159 marks that end a sentence, in all scripts."""

PUNCTUATION_HEX = (
    "0021 0022 0023 0024 0025 0026 0027 0028 0029 002a 002b 002c 002d 002e 002f 003a 003b 003c 003d 003e "
    "003f 0040 005b 005c 005d 005e 005f 0060 007b 007c 007d 007e 00ab 00b4 00bb 2013 2014 2019 201c 201d "
    "201e 2026 2236 2501 25ba 3001 3002 3008 3009 300a 300b 300c 300d 3010 3011 ff01 ff05 ff08 ff09 ff0c "
    "ff0e ff11 ff1a ff1b ff1f ff5e"
)
PUNCTUATION_MARKS = "".join(chr(int(code, 16)) for code in PUNCTUATION_HEX.split()) + "".join(
    chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))
)
"""What shingles read as a space: 66 marks and the control characters other than tab and line feed."""

UNSPACED_RANGES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x0FFF),  # Tibetan
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19DF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x2E80, 0x2FDF),  # radicals
    (0x3005, 0x312F),  # ideographic marks, Hiragana, Katakana, Bopomofo
    (0x31A0, 0x31BF),  # Bopomofo
    (0x31F0, 0x31FF),  # Katakana
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),  # Han
    (0xA000, 0xA4CF),  # Yi
    (0xA980, 0xA9FF),  # Javanese, Myanmar
    (0xAA60, 0xAADF),  # Myanmar, Tai Viet
    (0xF900, 0xFAFF),  # Han
    (0xFF66, 0xFF9F),  # Katakana
    (0x1B000, 0x1B16F),  # Kana
    (0x20000, ASSIGNED - 1),  # Han
)
LINE_BREAKS = "\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"


@cache
def table() -> npt.NDArray[np.uint8]:
    """The flags of every code point, (0x110000,) uint8, the same array each time."""
    characters = list(map(chr, range(ASSIGNED)))
    flags = np.zeros(CODE_POINTS, np.uint8)
    known = flags[:ASSIGNED]
    for flag, test in (
        (SPACE, str.isspace),
        (ALPHA, str.isalpha),
        (UPPER, str.isupper),
        (DIGIT, str.isdigit),
    ):
        known |= np.fromiter(map(test, characters), np.bool_, ASSIGNED) * np.uint8(flag)
    for flag, marks in (
        (PUNCTUATION, PUNCTUATION_MARKS + TERMINAL_MARKS),
        (TERMINAL, TERMINAL_MARKS),
        (LINE_BREAK, LINE_BREAKS),
    ):
        flags[[ord(mark) for mark in marks]] |= np.uint8(flag)
    for first, last in UNSPACED_RANGES:
        inside = [unicodedata.category(character)[0] in "LM" for character in characters[first : last + 1]]
        flags[first : last + 1] |= np.array(inside, np.uint8) * np.uint8(UNSPACED)
    flags.setflags(write=False)
    return flags

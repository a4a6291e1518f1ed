"""Texts that break what is only tried on prose: empty, one sign, other scripts, lone surrogates, very long."""

from __future__ import annotations

import random

ODD = [
    "",
    " ",
    "\n",
    "1",
    "@",
    ":",
    "+",
    "a",
    "中",
    "👩‍🔬",
    "\x00",
    "\ud800",
    "\udfff1234567\ud800",
    "   \t\r\n  ",
    "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7",
    "İİİ KEY=İ",
    "ß@ß.de",
    "１２３４５６７８９０",
    "-" * 40,
    "AB12",
    "GB29",
    "7" * 300,
    "a" * 300,
    "中1" * 100,
]
PIECES = [
    *"0123456789ABZabz@:.-+/()=_ \n",
    *(
        "中",
        "１",
        "İ",
        "\u00a0",
        "\ud800",
        "password=",
        "phone ",
        "key: ",
        "://",
        "-----BEGIN PRIVATE KEY-----",
    ),
    *(
        "4111 1111 1111 1111",
        "a@b.de",
        "+44 20 7946 0958",
        "GB29 NWBK 6016 1331 9268 19",
        "11010519491231002X",
    ),
    *("京A12345", "93.184.216.34", "u:pw123@", "[at]", "passport ", "account "),
]


def random_texts(count: int, seed: int = 7) -> list[str]:
    """Rows of pieces that items are made of, in no order."""
    draw = random.Random(seed)
    return ["".join(draw.choices(PIECES, k=draw.randrange(1, 60))) for _ in range(count)]

"""Whether a piece of English text is an address of the web: then its inside is not cut.

Decides the same as the regular expression by which spaCy 3.8 knows addresses (`lang/tokenizer_exceptions.py`, after
Diego Perini): optional scheme and user, a host name whose last label is in small letters or a public IPv4 address,
optional port and path. Its parts are delimited by characters that they cannot hold, so one pass decides. Costs:
one pass a piece with a full stop, and one more for each `@`.
"""

from __future__ import annotations

from numba import njit

from danlu.words.english_rules import DECIMAL, DIGIT, HOST, LOWER, WORD, Flags
from danlu.words.hashes import Codes

STOP, COLON, SLASH, QUESTION, HASH, AT = 0x2E, 0x3A, 0x2F, 0x3F, 0x23, 0x40
PLUS, MINUS, UNDERSCORE = 0x2B, 0x2D, 0x5F
ZERO, ONE, TWO, THREE, FIVE, SIX, NINE = 0x30, 0x31, 0x32, 0x33, 0x35, 0x36, 0x39
LABEL_LENGTH = 64
LAST_LABEL_LENGTH = 63


@njit(cache=True, nogil=True)
def is_address(codes: Codes, begin: int, end: int, flags: Flags) -> bool:
    """Whether [begin, end), which holds no white space, is an address."""
    stops = False
    for position in range(begin, end):
        stops |= codes[position] == STOP
    if not stops:
        return False
    if host_onwards(codes, begin, end, flags):
        return True
    after = after_scheme(codes, begin, end, flags)
    if after and host_onwards(codes, after, end, flags):
        return True
    for position in range(begin + 1, end):
        if codes[position] == AT and host_onwards(codes, position + 1, end, flags):
            return True
    return False


@njit(cache=True, nogil=True)
def after_scheme(codes: Codes, begin: int, end: int, flags: Flags) -> int:
    """Where the text behind `scheme://` starts; 0 where there is no scheme of two characters and more."""
    position = begin
    while position < end and (flags[codes[position]] & WORD or codes[position] in (PLUS, MINUS, STOP)):
        position += 1
    if position - begin < 2 or position + 2 >= end:
        return 0
    slashes = codes[position + 1] == SLASH and codes[position + 2] == SLASH
    return position + 3 if slashes and codes[position] == COLON else 0


@njit(cache=True, nogil=True)
def host_onwards(codes: Codes, begin: int, end: int, flags: Flags) -> bool:
    """Whether [begin, end) is a host, then maybe a port, then maybe a path."""
    position = begin
    last_stop = -1
    while position < end and codes[position] not in (COLON, SLASH, QUESTION, HASH):
        code = codes[position]
        if code == STOP:
            last_stop = position
        elif not (flags[code] & (HOST | LOWER) or code in (MINUS, UNDERSCORE)):
            return False
        position += 1
    if last_stop < 0:
        return False
    named = is_last_label(codes, last_stop + 1, position, flags) and are_labels(
        codes, begin, last_stop, flags
    )
    if not named and not is_public_ip(codes, begin, position, flags):
        return False
    if position < end and codes[position] == COLON:
        start = position + 1
        position = start
        while position < end and flags[codes[position]] & DECIMAL:
            position += 1
        if not 2 <= position - start <= 5:
            return False
    return position == end or codes[position] in (SLASH, QUESTION, HASH)


@njit(cache=True, nogil=True)
def is_last_label(codes: Codes, begin: int, end: int, flags: Flags) -> bool:
    """2 to 63 small letters."""
    for position in range(begin, end):
        if not flags[codes[position]] & LOWER:
            return False
    return 2 <= end - begin <= LAST_LABEL_LENGTH


@njit(cache=True, nogil=True)
def are_labels(codes: Codes, begin: int, end: int, flags: Flags) -> bool:
    """Whether [begin, end) is labels of 1 to 64 between full stops, with no hyphen or underscore at their ends."""
    start = begin
    for position in range(begin, end + 1):
        if position < end and codes[position] != STOP:
            # A small letter beyond the first 65,536 code points may stand in the last label alone.
            code = codes[position]
            if not (flags[code] & HOST or code in (MINUS, UNDERSCORE)):
                return False
            continue
        if not 1 <= position - start <= LABEL_LENGTH:
            return False
        if not (flags[codes[start]] & HOST and flags[codes[position - 1]] & HOST):
            return False
        start = position + 1
    return True


@njit(cache=True, nogil=True)
def is_public_ip(codes: Codes, begin: int, end: int, flags: Flags) -> bool:
    """Four octets from 1.0.0.1 to 223.255.255.254 outside 10, 127, 169.254, 172.16 to 172.31 and 192.168."""
    start = begin
    octets = 0
    first = 0
    for position in range(begin, end + 1):
        if position < end and codes[position] != STOP:
            continue
        octets += 1
        if octets > 4 or not is_octet(codes, start, position, octets, flags):
            return False
        # Only digits of ASCII can spell a private network; others leave the value beyond them.
        value = octet_value(codes, start, position, flags)
        if octets == 1:
            first = value
            if value in (10, 127):
                return False
        elif octets == 2:
            if (first == 169 and value == 254) or (first == 192 and value == 168):
                return False
            if first == 172 and is_private_172(codes, start, position):
                return False
        start = position + 1
    return octets == 4


@njit(cache=True, nogil=True)
def is_private_172(codes: Codes, begin: int, end: int) -> bool:
    """16 to 31; the second digit after a 2 may be of any script."""
    if end - begin != 2:
        return False
    tens, ones = codes[begin], codes[begin + 1]
    return bool(
        tens == TWO or (tens == ONE and SIX <= ones <= NINE) or (tens == THREE and ZERO <= ones <= ONE)
    )


@njit(cache=True, nogil=True)
def is_octet(codes: Codes, begin: int, end: int, number: int, flags: Flags) -> bool:
    """One of the four parts: the first is at most 223, the last at most 254, both start above zero."""
    length = end - begin
    if not 1 <= length <= 3:
        return False
    for position in range(begin, end):
        if not flags[codes[position]] & DECIMAL:
            return False
    if length < 3:
        return bool(number in (2, 3) or ONE <= codes[begin] <= NINE)
    tens, ones = codes[begin + 1], codes[begin + 2]
    if codes[begin] != TWO:
        return bool(codes[begin] == ONE)
    highest = TWO if number == 1 else FIVE
    last = THREE if number == 1 else (FIVE if number < 4 else FIVE - 1)
    return bool(ZERO <= tens < highest or (tens == highest and ZERO <= ones <= last))


@njit(cache=True, nogil=True)
def octet_value(codes: Codes, begin: int, end: int, flags: Flags) -> int:
    """Its value in digits of ASCII, -1 with any other."""
    value = 0
    for position in range(begin, end):
        if not flags[codes[position]] & DIGIT:
            return -1
        value = value * 10 + codes[position] - ZERO
    return value

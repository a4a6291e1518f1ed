"""Check digits: whether a number that looks like a card, an account or an identity number is one.

Guarantees: each function takes the number without spaces and hyphens and never raises; what is of another length or
has other characters is not valid. Costs: microseconds.

Sources: ISO/IEC 7812-1 (Luhn), ISO 13616 (IBAN), ISO 7064 (mod 97-10, mod 11-2, mod 11-10), GB 11643-1999 (Chinese
identity numbers), the Federal Reserve's rules for routing numbers, and the issuing offices' own for the others.
"""

from __future__ import annotations

_IBAN_LENGTHS = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 "
    "ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 "
    "LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 "
    "PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 "
    "YE30"
)
IBAN_LENGTHS = {entry[:2]: int(entry[2:]) for entry in _IBAN_LENGTHS.split()}
"""Characters of an IBAN by country."""

_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_CF_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
_TAIWAN_LETTERS = "ABCDEFGHJKLMNPQRSTUVXYWZIO"
"""In the order of their numbers, from 10 on."""


def luhn(digits: str) -> bool:
    """Whether the last digit is Luhn's of the others."""
    if not _is_number(digits):
        return False
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (doubled + sum(map(int, digits[-1::-2]))) % 10 == 0


def iban(text: str) -> bool:
    """Whether it has its country's length and 1 as the remainder of 97."""
    if len(text) != IBAN_LENGTHS.get(text[:2]) or not (text.isascii() and text.isalnum()):
        return False
    return int("".join(str(int(character, 36)) for character in text[4:] + text[:4])) % 97 == 1


def routing_number(digits: str) -> bool:
    """An American bank's: nine digits, weights 3, 7, 1."""
    if len(digits) != 9 or not _is_number(digits) or digits == "000000000":
        return False
    return sum(int(digit) * weight for digit, weight in zip(digits, (3, 7, 1) * 3, strict=True)) % 10 == 0


def german_tax_id(digits: str) -> bool:
    """Eleven digits, one of the first ten twice or thrice, ISO 7064 mod 11-10."""
    if len(digits) != 11 or not _is_number(digits) or digits[0] == "0":
        return False
    counts = sorted(digits[:10].count(digit) for digit in set(digits[:10]))
    if counts[-1] not in (2, 3) or (len(counts) > 1 and counts[-2] > 1):
        return False
    product = 10
    for digit in digits[:10]:
        product = 2 * ((int(digit) + product) % 10 or 10) % 11
    return (11 - product) % 10 == int(digits[10])


def french_nir(digits: str) -> bool:
    """Thirteen digits and a key of two: 97 less the remainder of 97. Corsica's, which have a letter, are not known."""
    if len(digits) != 15 or not _is_number(digits):
        return False
    return 97 - int(digits[:13]) % 97 == int(digits[13:])


def spanish_id(text: str) -> bool:
    """DNI: eight digits and a letter; NIE: X, Y or Z, seven digits and a letter."""
    number = str("XYZ".index(text[0])) + text[1:-1] if text[:1] in tuple("XYZ") else text[:-1]
    return len(text) == 9 and _is_number(number) and _DNI_LETTERS[int(number) % 23] == text[-1]


def italian_tax_code(text: str) -> bool:
    """Sixteen letters and digits, the last of which checks the others by their places."""
    if len(text) != 16 or not (text.isascii() and text.isalnum() and text.isupper()):
        return False
    values = [int(character) if character.isdigit() else ord(character) - 65 for character in text[:15]]
    total = sum(_CF_ODD[value] if place % 2 == 0 else value for place, value in enumerate(values))
    return chr(65 + total % 26) == text[15]


def nhs_number(digits: str) -> bool:
    """The British health service's: ten digits, weights 10 to 2, mod 11."""
    if len(digits) != 10 or not _is_number(digits):
        return False
    check = (
        11 - sum(int(digit) * weight for digit, weight in zip(digits, range(10, 1, -1), strict=False)) % 11
    )
    return check != 10 and check % 11 == int(digits[9])


def chinese_id(text: str) -> bool:
    """Eighteen characters whose last, a digit or X, is ISO 7064 mod 11-2 of the others."""
    if len(text) != 18 or not _is_number(text[:17]):
        return False
    total = sum(int(digit) * (2 ** (17 - place) % 11) for place, digit in enumerate(text[:17]))
    return "10X98765432"[total % 11] == text[17].upper()


def hong_kong_id(letters: str, digits: str) -> bool:
    """One or two letters, six digits and a check digit or A, weights 9 to 2, mod 11; a missing letter counts 36."""
    if not (1 <= len(letters) <= 2 and letters.isascii() and letters.isupper() and len(digits) == 7):
        return False
    if not _is_number(digits[:6]) or digits[6] not in "0123456789A":
        return False
    values = [36] * (2 - len(letters)) + [int(character, 36) for character in letters + digits[:6]]
    total = sum(value * weight for value, weight in zip(values, range(9, 1, -1), strict=True))
    return (total + int(digits[6], 16)) % 11 == 0


def taiwan_id(text: str) -> bool:
    """A letter and nine digits, weights 1, 9 to 1, 1, mod 10."""
    if len(text) != 10 or text[0] not in _TAIWAN_LETTERS or not _is_number(text[1:]):
        return False
    tens, ones = divmod(_TAIWAN_LETTERS.index(text[0]) + 10, 10)
    weighted = zip(text[1:], (8, 7, 6, 5, 4, 3, 2, 1, 1), strict=True)
    return (tens + 9 * ones + sum(int(digit) * weight for digit, weight in weighted)) % 10 == 0


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()

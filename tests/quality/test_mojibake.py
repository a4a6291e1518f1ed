"""Misread UTF-8: what comes back, and what must never be touched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.quality.mojibake import repair

GOOD = [
    "Le café était fermé, « déjà » dit-il – et l’hôtel aussi… où ?",
    "Größe, Straße, Übermut, „Anführung“ und €uro",
    "¿Dónde está el niño? ¡Aquí, mañana!",
    "Příliš žluťoučký kůň úpěl ďábelské ódy",
    "Он поднялся и вышел – “туда”, где № 5",
    "河水在夜里涨了起来，“到了早晨”……",
    "Τη γλώσσα μου έδωσαν ελληνική",
    "👩\u200d🔬 emoji 🎉",
]


def misread(text, encoding):
    """UTF-8 read as Latin-1, or as Windows-1252 with control characters where that has none."""
    data = text.encode()
    if encoding == "latin-1":
        return data.decode("latin-1")
    return "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in data)


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
@pytest.mark.parametrize("text", GOOD)
def test_misread_text_comes_back(text, encoding):
    once = misread(text, encoding)
    assert once != text
    assert repair(once) == text
    assert repair(misread(once, encoding)) == text


@pytest.mark.parametrize("text", GOOD)
def test_good_text_is_the_same(text):
    assert repair(text) is text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain ASCII",
        "la liberté»… et l’été",
        "liberté»…",
        "«IRMû e «MÃE»",
        "a ‘IRMÔ b",
        "É»",
        "Ā ā Ē ē",
        "Ã",
        "Ã \u00a0",
        "\x80\x81\xbf",
        "\ud800Ã",
    ],
)
def test_what_may_be_meant_stays(text):
    assert repair(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cafÃ©", "café"),
        ("itâ€™s", "it’s"),
        ("itâ\x80\x99s", "it’s"),
        ("90Â° in 河", "90° in 河"),
        ("河 cafÃ© naïve", "河 café naïve"),
        ("ï»¿start", "\ufeffstart"),
        ("good café\nbad cafÃ©", "good café\nbad café"),
        ("fÃªte", "fête"),
    ],
)
def test_certain_sequences(text, expected):
    assert repair(text) == expected


@given(st.text(alphabet="aÃÂâ€™©é»…\x80\xa0\n 河Ð¿", max_size=30))
def test_repaired_text_stays(text):
    assert repair(repair(text)) == repair(text)


@given(st.text(max_size=40))
def test_nothing_but_bytes_of_utf8_is_lost(text):
    assert len(repair(text)) <= len(text)


def test_many_runs_are_read_in_linear_time():
    assert repair("Ã©" * 100_000) == "é" * 100_000
    assert repair("é»… " * 50_000) == "é»… " * 50_000

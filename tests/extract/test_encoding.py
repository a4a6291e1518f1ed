"""Encodings: sound text passes, stray bytes are counted, another encoding is refused with the right guess."""

import random

import pytest

from danlu.errors import InputError
from danlu.extract.encoding import (
    HEAD_BYTES,
    Decoded,
    Decoder,
    decode,
    decode_declared,
    decode_line,
    guess_encoding,
    sign_of_binary,
)

CHINESE = "今天天气很好，我们去公园里散步。孩子们在草地上跑来跑去，大人们坐在树下说话。这是一个平常的星期天。"
TRADITIONAL = (
    "今天天氣很好，我們去公園裡散步。孩子們在草地上跑來跑去，大人們坐在樹下說話。這是一個平常的星期天。"
)
JAPANESE = "今日はとても天気がいいので、公園を散歩しました。子どもたちは芝生の上を走り回っていました。"
KOREAN = "오늘은 날씨가 아주 좋아서 공원에서 산책을 했습니다. 아이들은 잔디밭에서 뛰어놀았습니다."
RUSSIAN = "Сегодня очень хорошая погода, и мы пошли гулять в парк. Дети бегали по траве."
FRENCH = "Aujourd’hui il fait très beau, et nous sommes allés nous promener. Les élèves étaient là, ça va."


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "gb18030"),
        (TRADITIONAL, "big5"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (KOREAN, "euc_kr"),
        (RUSSIAN, "cp1251"),
        (FRENCH, "cp1252"),
        (FRENCH, "utf-16"),
    ],
    ids=lambda value: value if value.isascii() else value[:4],
)
def test_another_encoding_is_refused_and_named_with_the_key_to_set(text, encoding):
    data = text.encode(encoding)
    with pytest.raises(InputError, match=f'a.txt is not UTF-8 .*set encoding = "{encoding}" in its'):
        decode(data, "a.txt")


@pytest.mark.parametrize("cut", range(1, 12))
def test_the_guess_does_not_depend_on_where_the_sample_ends(cut):
    assert guess_encoding(CHINESE.encode("gb18030")[:-cut]) == "gb18030"


def test_binary_files_get_no_guess():
    with pytest.raises(InputError, match="does not look like text"):
        decode(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff\xd8", "a.png")


def test_a_damaged_utf8_text_keeps_its_sound_part():
    text, replaced = decode("日本の文".encode() + b"\xff" + "です".encode(), "a.txt")
    assert (text, replaced) == ("日本の文\ufffdです", 1)


def test_replacement_characters_of_the_text_itself_are_not_counted():
    assert decode("a\ufffdb".encode(), "a.txt") == ("a\ufffdb", 0)


def test_the_place_of_the_bad_byte_is_in_the_source():
    with pytest.raises(InputError, match=r"byte 0xe9 at 1004\)"):
        decode(b"caf\xe9\xe0 ", "a.txt", start=1001)


def decode_lines(data, source="a.txt"):
    decoder, start, texts = Decoder(source), 0, []
    for line in data.split(b"\n"):
        texts.append(decoder.decode(line, start))
        start += len(line) + 1
    decoder.finish()
    return texts


@pytest.mark.parametrize("lines", [1, 3, 20_000])
def test_one_stray_byte_refuses_no_file_however_short_its_line(lines):
    data = b"plain text\n" * (lines - 1) + b"it\x92s"
    assert decode_lines(data)[-1] == ("it\ufffds", 1)
    assert decode(data, "a.txt") == (data.decode("utf-8", "replace"), 1)


def test_stray_bytes_that_are_few_in_a_file_are_counted_wherever_they_lie():
    lines = [b"an ordinary line of plain text"] * 5_000
    lines[0] = lines[4_000] = b"\x93quoted\x94"
    texts = decode_lines(b"\n".join(lines))
    assert sum(replaced for _, replaced in texts) == 4


@pytest.mark.parametrize("head", [0, 100_000])
def test_another_encoding_is_found_line_by_line_and_after_a_plain_head(head):
    data = b"plain text\n" * (head // 11) + (FRENCH + "\n").encode("cp1252") * 2_000
    with pytest.raises(InputError, match=rf'byte 0x92 at {head // 11 * 11 + 7}\); .*encoding = "cp1252"'):
        decode_lines(data)


def test_sound_text_in_other_lines_speaks_for_the_file():
    data = ("Élève à l'été\n" * 50).encode() + b"caf\xe9 \xe0 la carte"
    assert decode_lines(data)[-1] == ("caf\ufffd \ufffd la carte", 2)


def test_a_byte_order_mark_of_utf16_refuses_at_once():
    data = ("English text of two bytes a character\n" * 4_000).encode("utf-16")
    with pytest.raises(InputError, match='encoding = "utf-16"'):
        Decoder("a.txt").decode(data.split(b"\n")[0])


@pytest.mark.parametrize(
    "data", [b"", b"plain", "ü".encode(), b"caf\xe9", b"\xff\xfea", "a\ufffd".encode() + b"\xff"]
)
def test_a_line_is_decoded_as_the_file_is_without_a_verdict(data):
    assert decode_line(data) == (
        data.decode("utf-8", "replace"),
        data.count(b"\xff") + data.count(b"\xfe") + data.count(b"\xe9"),
    )


@pytest.mark.parametrize(
    ("data", "declared", "decoded"),
    [
        (b"", "", Decoded("", 0)),
        ("\ufeffé".encode(), "big5", Decoded("é", 0)),
        (b"English.\n\xe9\n", "", Decoded("English.\né\n", 0, "cp1252")),
        ("é".encode("cp1252"), "cp1252", Decoded("é", 0)),
        (b"\xe9", "utf-8", Decoded("\ufffd", 1)),
        ("größer über Öl".encode() + b"\xff", "", Decoded("größer über Öl\ufffd", 1)),
        (b"a\x81\x00", "", Decoded("a\ufffd\x00", 1, "cp1252")),
        (FRENCH.encode("utf-16"), "", Decoded(FRENCH, 0, "utf-16")),
        (
            b"English.\n" * 9000 + TRADITIONAL.encode("big5"),
            "",
            Decoded("English.\n" * 9000 + TRADITIONAL, 0, "big5"),
        ),
    ],
    ids=lambda value: "",
)
def test_a_file_that_may_declare_its_encoding(data, declared, decoded):
    assert decode_declared(data, declared) == decoded


@pytest.mark.parametrize(
    "head",
    [
        b"%PDF-1.4\nplain",
        b"PK\x03\x04rest",
        b"\x1f\x8b\x08x",
        b"\x89PNG\r\n",
        b"\x7fELF",
        b"GIF89a\xff\xfb",
        b"p\0l\0a\0i\0n",
        b"caf\xe9 " * 9_000 + b"\0",
        bytes(range(16)),
        random.Random(2).randbytes(HEAD_BYTES),
        bytes(range(1, 8)) + b"\xe9 without any NUL",
    ],
    ids=lambda head: str(head[:8]),
)
def test_what_is_no_text_in_any_encoding_is_told(head):
    assert sign_of_binary(head)


@pytest.mark.parametrize(
    "text", [CHINESE, TRADITIONAL, JAPANESE, KOREAN, RUSSIAN, FRENCH], ids=lambda text: text[:4]
)
@pytest.mark.parametrize(
    "encoding", ["utf-8", "gb18030", "shift_jis", "euc_jp", "koi8-r", "cp1252", "utf-16", "utf-32", "cp437"]
)
def test_text_in_any_encoding_is_not_taken_for_binary(text, encoding):
    data = text.encode(encoding, "ignore") * 9
    assert [sign_of_binary(data[:cut]) for cut in range(len(data) - 9, len(data))] == [""] * 9


@pytest.mark.parametrize(
    "head", [b"", b"GIF8 is no picture", b"BZh", b"\x1b[1mbold\x1b[0m", b"x" * 2000 + b"\0"]
)
def test_what_only_looks_a_little_like_it_is_text(head):
    assert sign_of_binary(head) == ""


def test_a_declared_encoding_of_two_bytes_has_nul_bytes():
    data = "plain".encode("utf-16-le")
    assert sign_of_binary(data)
    assert sign_of_binary(data, "utf-16-le") == ""
    assert sign_of_binary(b"%PDF-1.4", "utf-16-le")

"""Records of a web archive: framed like fastwarc frames them, whatever is broken between them."""

import gzip
import io
import random

import pytest

from danlu.extract.warc import MalformedError, parse_record, read_blocks
from web_archive import PAGE, conversion, record, response


def blocks(data, limit=10_000, size=1 << 20):
    stream = io.BytesIO(data)
    return list(read_blocks(lambda wanted: stream.read(min(wanted, size)), limit))


ARCHIVE = record("warcinfo", b"software: test\r\n") + response(number=2) + conversion(b"plain text", number=3)


@pytest.mark.parametrize("size", [1, 7, 100, 1 << 20])
def test_records_are_those_of_fastwarc(size):
    from fastwarc.warc import ArchiveIterator

    expected = [
        (item.stream_pos, item.headers["WARC-Record-ID"], item.reader.read())
        for item in ArchiveIterator(io.BytesIO(ARCHIVE), parse_http=False)
    ]
    found = blocks(ARCHIVE, size=size)
    bodies = [block.data.partition(b"\r\n\r\n")[2] for block in found]
    ids = [f"<{parse_record(block.data, 10_000).id}>" for block in found]
    assert list(zip([block.start for block in found], ids, bodies, strict=True)) == expected


def test_archives_that_fastwarc_writes_are_read():
    from fastwarc.stream_io import GzipWriter
    from fastwarc.warc import WarcRecord, WarcRecordType

    target = io.BytesIO()
    writer = GzipWriter(target)
    for number in range(3):
        item = WarcRecord()
        item.init_headers(record_type=WarcRecordType.conversion)
        item.headers["WARC-Target-URI"] = f"http://example.org/{number}"
        item.set_bytes_content(f"text {number}".encode())
        item.write(writer)
    writer.close()
    found = [parse_record(block.data, 99) for block in blocks(gzip.decompress(target.getvalue()))]
    assert [(item.kind, item.url, item.content) for item in found] == [
        ("conversion", f"http://example.org/{number}", f"text {number}".encode()) for number in range(3)
    ]


GOOD = [response(number=number, url=f"http://example.org/{number}") for number in range(3)]
LENGTH = str(len(GOOD[1].partition(b"\r\n\r\n")[2]) - 4).encode()


@pytest.mark.parametrize(
    ("middle", "broken"),
    [
        (b"this is no record\nat all\r\n\r\n", "malformed_record"),
        (GOOD[1].replace(b"WARC/1.0", b"CRAW/1.0"), "malformed_record"),
        (GOOD[1].replace(b"Content-Length", b"Content-Size"), "malformed_record"),
        (GOOD[1].replace(b"Length: " + LENGTH, b"Length: 1" + LENGTH[1:]), "malformed_record"),
        (GOOD[1].replace(b"Length: " + LENGTH, b"Length: 9" + LENGTH[1:]), "malformed_record"),
        (GOOD[1].replace(b"Length: " + LENGTH, b"Length: x"), "malformed_record"),
        (GOOD[1].replace(b"Length: " + LENGTH, b"Length: 9999"), "truncated"),
        (GOOD[1][:200], "malformed_record"),
        (response(b"x" * 20_000), "too_long"),
    ],
)
@pytest.mark.parametrize("size", [13, 1 << 20])
def test_a_broken_record_costs_no_other(middle, broken, size):
    found = blocks(GOOD[0] + middle + GOOD[2], size=size)
    assert [block.broken for block in found] == ["", broken, ""]
    assert found[2].data + b"\r\n\r\n" == GOOD[2]
    assert found[1].start <= len(GOOD[0])
    assert found[2].end == len(GOOD[0] + middle + GOOD[2]) - 4


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\r\n \n", []),
        (GOOD[0][:-4], [""]),
        (GOOD[0] + GOOD[1][:-50], ["", "truncated"]),
        (GOOD[0] + GOOD[1][:30], ["", "malformed_record"]),
        (response(b"x" * 20_000)[:15_000], ["truncated"]),
        (b"plain text\n" * 9, ["malformed_record"]),
    ],
)
def test_the_end_of_an_archive(data, expected):
    assert [block.broken for block in blocks(data)] == expected


def test_every_byte_of_a_damaged_archive_is_accounted_for():
    draw = random.Random(1)
    sound = b"".join([*GOOD, conversion("Grüße\n".encode() * 30), *GOOD])
    for _ in range(300):
        data = bytearray(sound)
        for _ in range(draw.randrange(1, 6)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        place = 0
        for block in blocks(bytes(data), size=draw.choice([11, 512, 1 << 20])):
            assert not data[place : block.start].strip()
            assert block.start < block.end
            assert block.broken or bytes(data[block.start : block.end]) == block.data
            place = block.end
            if block.data:
                try:
                    parse_record(block.data, 10_000)
                except MalformedError:
                    continue
        assert not data[place:].strip()


def test_http_is_undone():
    packed = gzip.compress(PAGE.encode())
    zipped = response(packed, headers="Content-Type: TEXT/HTML\r\nContent-Encoding: gzip\r\n")
    chunked = response(
        b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
        headers="Content-Type: text/html; charset=GBK\r\nTransfer-Encoding: chunked\r\n",
        status="404 Not Found",
    )
    first, second = (parse_record(block.data, 10_000) for block in blocks(zipped + chunked))
    assert (first.media_type, first.content.decode(), first.status) == ("text/html", PAGE, 200)
    assert (second.charset, second.content, second.status) == ("gbk", b"abcde", 404)


def test_a_bomb_in_a_record_is_cut_off():
    bomb = response(gzip.compress(bytes(5_000_000)), headers="Content-Encoding: gzip\r\n")
    (block,) = blocks(bomb)
    assert len(parse_record(block.data, 1000).content) == 1001


def test_what_cannot_be_decoded_says_so():
    (block,) = blocks(response(b"no gzip at all", headers="Content-Encoding: gzip\r\n"))
    with pytest.raises(MalformedError, match=r"(?i)gzip"):
        parse_record(block.data, 1000)

"""Archives give their sources; tricks, bombs and what is no LaTeX are refused with the reason."""

import gzip
import io
import tarfile
import zlib

import pytest

from danlu.latex.unpack import unpack

PAPER = b"\\documentclass{article}\\begin{document}a\\end{document}"
LIMIT = 1_000_000


def tar(files, kind=tarfile.REGTYPE, form=tarfile.PAX_FORMAT):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.type = kind
            member.linkname = "/etc/passwd" if kind != tarfile.REGTYPE else ""
            member.size = len(data) if kind == tarfile.REGTYPE else 0
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_sources_of_an_archive(pack, form):
    files = {"./main.tex": PAPER, "fig/a.png": b"\x89PNG", "sec/b.TEX": b"b"}
    assert unpack(pack(tar(files, form=form)), LIMIT) == {"main.tex": PAPER, "sec/b.TEX": b"b"}


def test_an_old_tar_has_no_magic():
    data = bytearray(tar({"main.tex": PAPER}, form=tarfile.USTAR_FORMAT))
    data[257:265] = bytes(8)
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    assert unpack(bytes(data), LIMIT) == {"main.tex": PAPER}


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_single_source(pack):
    assert unpack(pack(PAPER), LIMIT) == {"main.tex": PAPER}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (tar({"../a.tex": b"x"}), "leads out"),
        (tar({"/a.tex": b"x"}), "leads out"),
        (tar({"a.tex": b""}, kind=tarfile.SYMTYPE), "a link"),
        (tar({"a.tex": b""}, kind=tarfile.LNKTYPE), "a link"),
        (tar({"a.tex": b""}, kind=tarfile.FIFOTYPE), "a link"),
        (tar({"a.png": b"x"}), "no LaTeX source"),
        (tar({"a.tex": bytes(LIMIT), "b.tex": b"x"}), "more than"),
        (gzip.compress(bytes(3 * LIMIT)), "expands to more than"),
        (gzip.compress(PAPER)[:-9], "ends early"),
        (b"\x1f\x8bnothing", "corrupt gzip"),
        (tar({"a.tex": bytes(2000)})[:1500], "broken tar"),
        (b"%PDF-1.5 ...", "a PDF"),
        (gzip.compress(b"%!PS-Adobe"), "PostScript"),
        (b"PK\x03\x04zip", "zip"),
        (b"a\0b", "NUL"),
        (b"x" * (LIMIT + 1), "longer than"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refused(data, reason):
    with pytest.raises(ValueError, match=reason):
        unpack(data, LIMIT)


def test_too_many_files(monkeypatch):
    monkeypatch.setattr("danlu.latex.unpack.MOST_FILES", 3)
    with pytest.raises(ValueError, match="more than 3 files"):
        unpack(tar(dict.fromkeys((f"{n}.tex" for n in range(4)), b"")), LIMIT)


def test_a_source_that_only_looks_like_an_old_tar():
    source = bytearray(PAPER + b"%" * 600)
    source[148:156] = b"20190109"
    assert unpack(bytes(source), LIMIT) == {"main.tex": bytes(source)}


def test_members_of_a_gzip_file_are_fed_once(monkeypatch):
    fed = 0

    class Counting:
        def __init__(self, window):
            self._decoder = decompressobj(window)

        def decompress(self, data, most):
            nonlocal fed
            fed += len(data)
            return self._decoder.decompress(data, most)

        def __getattr__(self, name):
            return getattr(self._decoder, name)

    data = b"".join(gzip.compress(b"%d " % number) for number in range(1000)) + b"\0" * 9
    decompressobj = zlib.decompressobj
    monkeypatch.setattr(zlib, "decompressobj", Counting)
    assert unpack(data, LIMIT)["main.tex"].split() == [b"%d" % number for number in range(1000)]
    assert fed < 20 * len(data)

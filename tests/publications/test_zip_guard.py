"""ZIP files of strangers: read within limits, everything else refused with a reason."""

import io
import zipfile

import pytest

from danlu.publications import zip_guard
from danlu.publications.zip_guard import Members
from small_publications import make_zip


def test_members_are_read():
    members = Members(make_zip({"a.txt": "one", "b/c.txt": b"\0\xff", "empty": ""}))
    assert (members.read("a.txt"), members.read("b/c.txt"), members.read("empty")) == (b"one", b"\0\xff", b"")
    assert "a.txt" in members
    assert "c.txt" not in members


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no whole ZIP"),
        (b"PK\x03\x04 and no more", "no whole ZIP"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 600, "encrypted with a password"),
        (make_zip({"a": "x" * 1000})[:-30], "no whole ZIP"),
        (make_zip({"../a": ""}), "outside of itself"),
        (make_zip({"a/../../b": ""}), "outside of itself"),
        (make_zip({"/etc/passwd": ""}), "outside of itself"),
        (make_zip({"C:/x": ""}), "outside of itself"),
        (make_zip({"a\\..\\..\\b": ""}), "outside of itself"),
    ],
)
def test_what_cannot_be_trusted_is_refused(data, why):
    with pytest.raises(ValueError, match=why):
        Members(data)


def test_a_missing_member_is_named():
    with pytest.raises(ValueError, match=r"has no b\.txt"):
        Members(make_zip({"a.txt": ""})).read("b.txt")


def test_a_bomb_is_refused():
    bomb = make_zip({"zeros": bytes(zip_guard.BOMB_BYTES + 1)})
    assert len(bomb) < 20_000
    with pytest.raises(ValueError, match="zeros is a bomb"):
        Members(bomb).read("zeros")


def test_sizes_are_counted_not_believed(monkeypatch):
    monkeypatch.setattr(zip_guard, "MEMBER_BYTES", 100)
    data = make_zip({"a": "x" * 101, "b": "y" * 100})
    members = Members(data)
    with pytest.raises(ValueError, match="a expands to more than 100"):
        members.read("a")
    assert members.read("b") == b"y" * 100


def test_all_that_is_read_has_a_limit(monkeypatch):
    monkeypatch.setattr(zip_guard, "ALL_BYTES", 250)
    members = Members(make_zip({name: name * 100 for name in "abc"}))
    assert members.read("a") + members.read("b") == b"a" * 100 + b"b" * 100
    with pytest.raises(ValueError, match="c expands to more than 50"):
        members.read("c")


def test_too_many_members_are_refused_before_they_are_listed(monkeypatch):
    monkeypatch.setattr(zip_guard, "MOST_MEMBERS", 3)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    with pytest.raises(ValueError, match="more than 3 members"):
        Members(b"PK\x01\x02" * 4)


def test_a_zip_inside_is_only_bytes():
    inner = make_zip({"deep": bytes(1000)})
    assert Members(make_zip({"inner.zip": inner})).read("inner.zip") == inner


def test_damage_in_a_member_is_seen():
    whole = make_zip({"a": bytes(range(256)) * 40})
    place = whole.index(b"a") + 20
    broken = whole[:place] + bytes(byte ^ 0x55 for byte in whole[place : place + 8]) + whole[place + 8 :]
    with pytest.raises(ValueError, match="a cannot be unpacked"):
        Members(broken).read("a")


def test_an_encrypted_member_is_refused():
    whole = bytearray(make_zip({"a": "secret"}))
    whole[6] |= 1
    whole[whole.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(ValueError, match="a is encrypted"):
        Members(bytes(whole)).read("a")


def test_every_truncation_is_an_answer():
    whole = make_zip({"a": "one", "b": "two" * 50})
    for end in range(len(whole)):
        with pytest.raises(ValueError, match="is no whole ZIP file"):
            Members(whole[:end])


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_expands_without_bound_is_refused_before_it_does(method, monkeypatch):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as opened:
        opened.writestr("a", bytes(1000))
    members = Members(made.getvalue())
    monkeypatch.setattr(zipfile.ZipFile, "open", None)
    with pytest.raises(ValueError, match=f"a is compressed by method {method}"):
        members.read("a")

"""Small books and papers for tests: EPUB and other ZIP files, and PDF files written by hand."""

from __future__ import annotations

import hashlib
import io
import zipfile

PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
"""What PDF's standard security handler pads a password with."""

CONTAINER = """<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">
<rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""

NCX_DOCTYPE = (
    '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">'
)


def make_zip(members: dict[str, str | bytes]) -> bytes:
    """A ZIP file of members in their order."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, data in members.items():
            opened.writestr(name, data)
    return made.getvalue()


def xhtml(body: str) -> str:
    """A page of a book."""
    return (
        '<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>no text</title></head><body>{body}</body></html>'
    )


def make_epub(
    pages: dict[str, str], nav: str = "", ncx: str = "", metadata: str = "", **more: str | bytes
) -> bytes:
    """A book of pages (name -> body or a whole file); `nav` is a list of HTML, `ncx` its navPoints."""
    items = "".join(
        f'<item id="p{number}" href="{name}" media-type="application/xhtml+xml"/>'
        for number, name in enumerate(pages)
    )
    spine = "".join(f'<itemref idref="p{number}"/>' for number in range(len(pages)))
    if nav:
        items += '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        spine = f'<itemref idref="nav"/>{spine}'
    items += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>' if ncx else ""
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{metadata}</metadata>'
        f'<manifest>{items}</manifest><spine toc="ncx">{spine}</spine></package>'
    )
    members: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": package,
    }
    members |= {
        f"OEBPS/{name}": page if page.startswith("<?xml") else xhtml(page) for name, page in pages.items()
    }
    if nav:
        members["OEBPS/nav.xhtml"] = xhtml(f'<nav epub:type="toc">{nav}</nav>')
    if ncx:
        members["OEBPS/toc.ncx"] = (
            f'<?xml version="1.0"?>{NCX_DOCTYPE}<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{ncx}</navMap></ncx>'
        )
    return make_zip(members | {name.replace("__", "/"): data for name, data in more.items()})


def text(x: float, y: float, words: str, size: float = 10, font: str = "F1") -> str:
    """One line on a page, F1 being Helvetica, F2 Courier; places in points from the lower left corner."""
    escaped = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /{font} {size} Tf {x} {y} Td ({escaped}) Tj ET"


RECTANGLE = "10 10 100 100 re f"
TURNED = "BT /F1 10 Tf 0 1 -1 0 20 300 Tm (turned by a quarter) Tj ET"


def make_pdf(
    pages: list[list[str]],
    outline: list[tuple[str, int]] = (),  # type: ignore[assignment]
    info: str = "",
    permissions: int | None = None,
    owner_key: bytes = b"o" * 32,
) -> bytes:
    """A file of pages of drawing commands, 612 by 792 points; `permissions` encrypts it with an empty password."""
    count = len(pages)
    first_page, first_mark = 6, 6 + 2 * count
    kids = " ".join(f"{first_page + 2 * number} 0 R" for number in range(count))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {'/Outlines 5 0 R' if outline else ''} >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>",
        f"<< /Type /Outlines /First {first_mark} 0 R /Last {first_mark + len(outline) - 1} 0 R /Count {len(outline)} >>"
        if outline
        else f"<< {info} >>",
    ]
    for number, commands in enumerate(pages):
        stream = "\n".join(commands)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {first_page + 2 * number + 1} 0 R "
            "/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream.encode('cp1252'))} >>\nstream\n{stream}\nendstream")
    for number, (title, page) in enumerate(outline):
        following = f"/Next {first_mark + number + 1} 0 R" if number + 1 < len(outline) else ""
        objects.append(
            f"<< /Title ({title}) /Parent 5 0 R {following} /Dest [{first_page + 2 * page} 0 R /Fit] >>"
        )
    trailer = f"/Root 1 0 R /Size {len(objects) + 1}" + ("" if outline else " /Info 5 0 R")
    made = bytearray(b"%PDF-1.4\n")
    places = []
    for number, item in enumerate(objects, 1):
        places.append(len(made))
        made += f"{number} 0 obj\n{item}\nendobj\n".encode("cp1252")
    table = len(made)
    made += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    made += b"".join(f"{place:010d} 00000 n \n".encode() for place in places)
    made += (
        f"trailer\n<< {trailer} {_security(permissions, owner_key)} >>\nstartxref\n{table}\n%%EOF\n".encode()
    )
    return bytes(made)


def _security(permissions: int | None, owner_key: bytes) -> str:
    """The standard security handler, revision 2 (ISO 32000-1, algorithms 2 and 4)."""
    if permissions is None:
        return ""
    number = b"0123456789abcdef"
    signed = permissions.to_bytes(4, "little", signed=True)
    key = hashlib.md5(PADDING + owner_key + signed + number).digest()[:5]
    user = _rc4(key, PADDING)
    return (
        f"/ID [<{number.hex()}> <{number.hex()}>] /Encrypt << /Filter /Standard /V 1 /R 2 /Length 40 "
        f"/P {permissions} /O <{owner_key.hex()}> /U <{user.hex()}> >>"
    )


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    made, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        made.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(made)

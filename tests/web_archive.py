"""Records of a web archive, written byte by byte, for tests that break them."""

from __future__ import annotations

PAGE = """<html><head><title>Salt &amp;
pepper</title></head><body><nav><a href="/">Home</a></nav><main><article><h1>Salt</h1>
<p>Salt is a mineral that is made of sodium and chlorine, and food without it tastes of little.</p>
<p>It was once so rare that soldiers were paid with it, or so the story of the word goes.</p>
</article></main><footer>Copyright</footer></body></html>"""


def record(
    kind: str, body: bytes, *, url: str = "http://example.org/", extra: str = "", number: int = 1
) -> bytes:
    """One record with its two closing line ends; `extra` are header lines, each ended with CRLF."""
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{number}>\r\nWARC-Target-URI: {url}\r\n"
        f"{extra}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body + b"\r\n\r\n"


def response(
    page: bytes = PAGE.encode(),
    *,
    status: str = "200 OK",
    headers: str = "Content-Type: text/html; charset=utf-8\r\n",
    number: int = 1,
    url: str = "http://example.org/",
) -> bytes:
    """A server's answer."""
    body = f"HTTP/1.1 {status}\r\n{headers}\r\n".encode() + page
    extra = "Content-Type: application/http; msgtype=response\r\n"
    return record("response", body, url=url, extra=extra, number=number)


def conversion(text: bytes, *, number: int = 1, language: str = "eng") -> bytes:
    """A text as a WET file holds it."""
    extra = f"Content-Type: text/plain\r\nWARC-Identified-Content-Language: {language}\r\n"
    return record("conversion", text, extra=extra, number=number)

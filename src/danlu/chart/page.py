"""One self-contained HTML page: no script, no font, no picture from elsewhere; it can be mailed and opened offline.

Guarantees: a content security policy forbids every load and every script, so that nothing in the text of a corpus or a
sample can act; light and dark follow the reader's system; it reads on a phone and on paper. The style is in page.css.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Sequence
from dataclasses import dataclass

from danlu.chart.markup import Html, escape

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True)
class Section:
    """A titled part of a page; `note` is a plain sentence under the title."""

    title: str
    body: Html
    note: str = ""


def page(title: str, sections: Sequence[Section], subtitle: str = "", language: str = "en") -> str:
    """The whole document as text."""
    style = importlib.resources.files("danlu.chart").joinpath("page.css").read_text(encoding="utf-8")
    contents = "".join(
        f'<a href="#{_anchor(number)}">{escape(section.title)}</a>' for number, section in enumerate(sections)
    )
    under = f"<p>{escape(subtitle)}</p>" if subtitle else ""
    return (
        f'<!doctype html>\n<html lang="{escape(language)}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<header><h1>{escape(title)}</h1>{under}<nav>{contents}</nav></header>\n<main>\n"
        + "\n".join(_section(number, section) for number, section in enumerate(sections))
        + "\n</main>\n</body>\n</html>\n"
    )


def _section(number: int, section: Section) -> str:
    note = f'<p class="note">{escape(section.note)}</p>' if section.note else ""
    return f'<section id="{_anchor(number)}"><h2>{escape(section.title)}</h2>{note}{section.body}</section>'


def _anchor(number: int) -> str:
    return f"part-{number + 1}"

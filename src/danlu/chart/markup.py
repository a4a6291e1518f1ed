"""The pieces of a page: text, tables, headline numbers, figures. Everything that is not markup is escaped here.

Guarantees: `Html` is made only in this folder, from escaped text; control characters, lone surrogates and bidirectional
overrides, which generated text may hold, are shown or isolated and cannot disturb the page.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import NewType

Html = NewType("Html", str)
"""Markup that is safe to put in a page as it is."""


def escape(text: object) -> str:
    """Text as it can stand in an element or a quoted attribute."""
    shown = str(text).encode("utf-8", "replace").decode("utf-8")
    return html.escape("".join(_visible(character) for character in shown))


def join(parts: Iterable[Html]) -> Html:
    """Pieces one after the other."""
    return Html("\n".join(parts))


def paragraph(text: str, kind: str = "") -> Html:
    """One paragraph; kind "note" is set smaller, "missing" says that there is nothing to show."""
    return Html(f"<p{_class(kind)}>{escape(text)}</p>")


def heading(text: str) -> Html:
    """A heading within a section."""
    return Html(f"<h3>{escape(text)}</h3>")


def headline(facts: Sequence[tuple[str, str, str]]) -> Html:
    """The few numbers that matter, as (label, value, note)."""
    items = (
        f"<div><dt>{escape(label)}</dt><dd>{escape(value)}<small>{escape(note)}</small></dd></div>"
        for label, value, note in facts
    )
    return Html(f'<dl class="headline">{"".join(items)}</dl>')


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "", text_columns: int = 1
) -> Html:
    """A table; all but the first `text_columns` columns are numbers, aligned to the right."""
    head = "".join(
        f'<th scope="col"{_number(i, text_columns)}>{escape(cell)}</th>' for i, cell in enumerate(header)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{_number(i, text_columns)}>{escape(cell)}</td>" for i, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return Html(
        f'<div class="scroll" tabindex="0"><table>{title}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def quotation(label: str, prompt: str, text: str) -> Html:
    """A generated text: the prompt, set apart, and what the model wrote after it."""
    return Html(
        f'<figure class="sample"><figcaption>{escape(label)}</figcaption>'
        f"<pre><b>{escape(prompt)}</b>{escape(text)}</pre></figure>"
    )


def code(label: str, text: str) -> Html:
    """A longer text of a file, folded until it is asked for."""
    return Html(f"<details><summary>{escape(label)}</summary><pre>{escape(text)}</pre></details>")


def folded(label: str, body: Html) -> Html:
    """Pieces of a page, folded until they are asked for."""
    return Html(f"<details><summary>{escape(label)}</summary>{body}</details>")


def figure(picture: Html, caption: str = "") -> Html:
    """A chart with a line under it."""
    under = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return Html(f"<figure>{picture}{under}</figure>")


def columns(parts: Iterable[Html]) -> Html:
    """Pieces side by side where the window is wide enough."""
    return Html(f'<div class="columns">{"".join(f"<div>{part}</div>" for part in parts)}</div>')


def _visible(character: str) -> str:
    code = ord(character)
    if code < 32 and character not in "\n\t":
        return chr(0x2400 + code)
    if code == 127:
        return "\u2421"
    # C1 controls are not characters of HTML.
    return "\ufffd" if 128 <= code < 160 else character


def _class(kind: str) -> str:
    return f' class="{escape(kind)}"' if kind else ""


def _number(column: int, text_columns: int) -> str:
    return "" if column < text_columns else ' class="number"'

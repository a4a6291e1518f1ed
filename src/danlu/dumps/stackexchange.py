"""Stack Exchange: the questions of a site's Posts.xml, each with its answers: the accepted one first, then by score.

Decides: one document for a question, in order of its number. Answers come far behind their question, so that posts are
first laid down in a SQLite file in the temporary directory (TMPDIR; about as large as Posts.xml) and then read by
thread. Counted as `Broken`: answers whose question is not there ("no_question"), posts of another kind, such as
descriptions of tags ("not_a_post"), posts that stand there twice ("repeated"), threads longer than allowed
("too_long"), files of a dump that hold no posts ("not_posts"). Guarantees: memory stays at some 100 MB and one
thread. Costs: xml_stream.py, and the disk.
"""

from __future__ import annotations

import re
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from danlu.dumps.found import Article, Broken
from danlu.dumps.threads import pack
from danlu.dumps.xml_stream import Part, read_parts
from danlu.errors import DanluError
from danlu.extract.packed import Read
from danlu.files import TEMPORARY

_QUESTION, _ANSWER = "1", "2"
_NUMBER = re.compile(r"-?[0-9]{1,18}")
_TAG = re.compile(r"[^<>|]+")
_SITE = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|net|org)(?=-Posts|\.Posts|$)", re.IGNORECASE)
_CACHE = "PRAGMA cache_size = -65536"
_COLUMNS = "thread INTEGER, is_answer INTEGER, number INTEGER, start INTEGER, end INTEGER, score INTEGER"
_TEXTS = "body TEXT, title TEXT, tags TEXT, accepted TEXT, date TEXT, license TEXT"


class _Post(NamedTuple):
    """A row of Posts.xml; `thread` is the number of its question, `accepted` that of a question's accepted answer."""

    thread: int
    is_answer: int
    number: int
    start: int
    end: int
    score: int
    body: str
    title: str
    tags: str
    accepted: str
    date: str
    license: str


def read_stackexchange(read: Read, name: str, limit: int) -> Iterator[Article | Broken]:
    """The questions of one Posts.xml; a thread may hold about `limit` characters of HTML.

    `Article.markup` is for `threads.extract`; metadata: title, tags, score, answers (how many), accepted ("yes"), date,
    license, and site and url where the path names the site ("cooking.stackexchange.com/Posts.xml"). Raises
    InputError where the file is a 7z archive, DanluError where the temporary directory is full.
    """
    with tempfile.TemporaryDirectory(prefix=TEMPORARY) as folder:
        try:
            with closing(sqlite3.connect(Path(folder) / "posts.sqlite", isolation_level=None)) as database:
                yield from _lay_down(read_parts(read, name, ("row",), limit), database)
                query = "SELECT * FROM posts ORDER BY thread, is_answer, number, start"
                posts = map(_Post._make, database.execute(query))
                for _, thread in groupby(posts, attrgetter("thread")):
                    yield from _assemble(thread, _site_of(name), limit)
        except sqlite3.OperationalError as error:
            raise DanluError(
                f"{name}: its posts cannot be laid down in {folder}: {error}; free some space, or set TMPDIR to a "
                f"directory with as much space as the file has unpacked"
            ) from error


def _lay_down(parts: Iterable[Part | Broken], database: sqlite3.Connection) -> Iterator[Broken]:
    """Writes the questions and answers, and yields what is neither."""
    for command in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", _CACHE):
        database.execute(command)
    database.execute(f"CREATE TABLE posts ({_COLUMNS}, {_TEXTS})")
    database.execute("BEGIN")
    insert = f"INSERT INTO posts VALUES ({', '.join('?' * len(_Post._fields))})"
    for part in parts:
        if isinstance(part, Broken):
            yield part
        elif part.element.name == "row":
            post = _read_row(part)
            if isinstance(post, Broken):
                yield post
            else:
                database.execute(insert, post)
        elif part.element.name != "posts":
            detail = f"<{part.element.name}>: of a site's files only Posts.xml holds questions and answers"
            yield Broken("not_posts", part.start, part.end, detail)
            break
    database.execute("COMMIT")
    database.execute("CREATE INDEX by_thread ON posts (thread, is_answer, number, start)")


def _read_row(part: Part) -> _Post | Broken:
    row = part.element.attributes
    kind = row.get("PostTypeId", "")
    if kind not in (_QUESTION, _ANSWER):
        detail = f"post {row.get('Id', '')} is of type {kind or 'none'}"
        return Broken("not_a_post", part.start, part.end, detail)
    number = _number(row.get("Id", ""))
    thread = number if kind == _QUESTION else _number(row.get("ParentId", ""))
    if number is None or thread is None:
        detail = "no number in 'Id', or in an answer's 'ParentId'"
        return Broken("malformed", part.start, part.end, detail)
    return _Post(
        thread=thread,
        is_answer=kind == _ANSWER,
        number=number,
        start=part.start,
        end=part.end,
        score=_number(row.get("Score", "")) or 0,
        body=row.get("Body", ""),
        title=row.get("Title", ""),
        tags=", ".join(_TAG.findall(row.get("Tags", ""))),
        accepted=row.get("AcceptedAnswerId", ""),
        date=row.get("CreationDate", ""),
        license=row.get("ContentLicense", ""),
    )


def _assemble(thread: Iterator[_Post], site: str, limit: int) -> Iterator[Article | Broken]:
    """The document of one thread, whose question comes first, and what is left out of it."""
    question = next(thread)
    if question.is_answer:
        count = 1 + sum(1 for _ in thread)
        detail = f"question {question.thread} is not in the file; its answers: {count}"
        yield Broken("no_question", question.start, question.end, detail)
        return
    answers: list[_Post] = []
    held = len(question.body)
    for post in thread:
        # In order of number: one that stands there twice comes behind itself.
        if post.number == (answers[-1] if answers and post.is_answer else question).number:
            what = "answer" if post.is_answer else "question"
            yield Broken("repeated", post.start, post.end, f"{what} {post.number} is there twice")
            continue
        held += len(post.body)
        if held > limit:
            detail = f"question {question.number} and its answers: longer than {limit} characters"
            yield Broken("too_long", question.start, question.end, detail)
            return
        answers.append(post)
    answers.sort(key=lambda post: (str(post.number) != question.accepted, -post.score, post.number))
    markup = pack(question.title, question.body, [post.body for post in answers])
    has_accepted = bool(answers) and str(answers[0].number) == question.accepted
    said = {
        "title": question.title,
        "tags": question.tags,
        "score": str(question.score),
        "answers": str(len(answers)),
        "accepted": "yes" if has_accepted else "",
        "date": question.date,
        "license": question.license,
        "site": site,
        "url": f"https://{site}/questions/{question.number}" if site else "",
    }
    metadata = {key: value for key, value in said.items() if value}
    yield Article(str(question.number), question.start, question.end, markup, metadata, site)


def _number(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None


def _site_of(name: str) -> str:
    """The site that the path of a file names: "" where none of its parts is one."""
    found = [match for part in name.split("/")[::-1] if (match := _SITE.match(part))]
    return found[0][0].lower() if found else ""

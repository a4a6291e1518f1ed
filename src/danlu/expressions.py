"""Conditions that a user writes in the recipe, such as "word_count > 50 and language == 'en'": read, checked, judged.

Decides: Python's own grammar as far as comparisons, and, or, not, in, + - * / and names that the caller knows; numbers
are floats, texts are only compared for equality. What was not measured, or divided by zero, may be anything: a
condition fails only where it is false whatever that is.
Guarantees: nothing is evaluated but what is on that list (no calls, attributes, subscripts, powers), so that a recipe
runs no code; length, parts and depth are bounded; errors name what is wrong and the nearest right name.
Costs: a microsecond for each part of the condition.
"""

from __future__ import annotations

import ast
import math
import operator
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from danlu.config import nearest

MAX_CHARACTERS = 2000
MAX_PARTS = 300
MAX_DEPTH = 40

Kind = Literal["number", "text", "truth"]
Value = float | str | bool
Names = Mapping[str, Value]
Truth = bool | None
"""None: either, by a number that is none."""
Judge = Callable[[Names], Any]

_ORDER: dict[type[ast.cmpop], Callable[[Value, Value], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_EQUALITY: dict[type[ast.cmpop], Callable[[Value, Value], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_MEMBERSHIP = {ast.In: True, ast.NotIn: False}
_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: left / right if right else math.nan,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that has been read: the names in it, in order, and how to judge it."""

    names: tuple[str, ...]
    judge: Judge

    def fails(self, values: Names) -> bool:
        """Whether it is false of these values, one for each of its names, whatever those are that are not numbers."""
        return self.judge(values) is False


def read_condition(text: str, numbers: Collection[str], texts: Collection[str] = ()) -> Condition:
    """The condition over names of numbers and of texts. Raises ValueError with what is wrong and what to write."""
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"the expression has {len(text)} characters; at most {MAX_CHARACTERS} are read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        what = error.msg if isinstance(error, SyntaxError) else "nested too deeply, or with a null character"
        raise ValueError(f"the expression {text[:80]!r} cannot be read: {what}") from None
    parts = sum(1 for _ in ast.walk(body))
    if parts > MAX_PARTS:
        raise ValueError(f"the expression has {parts} parts; at most {MAX_PARTS} are read")
    known: dict[str, Kind] = {**dict.fromkeys(numbers, "number"), **dict.fromkeys(texts, "text")}
    reader = _Reader(known)
    kind, judge = reader.read(body, 0)
    if kind != "truth":
        raise ValueError(
            f"the expression {text[:80]!r} is a {kind}, not a condition; compare it with something"
        )
    return Condition(tuple(reader.used), judge)


class _Reader:
    """Turns a syntax tree into nested functions, and checks the kinds on the way."""

    def __init__(self, known: dict[str, Kind]) -> None:
        self.known = known
        self.used: dict[str, None] = {}

    def read(self, node: ast.expr, depth: int) -> tuple[Kind, Judge]:
        if depth > MAX_DEPTH:
            raise ValueError(f"the expression is nested more than {MAX_DEPTH} deep")
        match node:
            case ast.Name(id=name):
                return self._name(name)
            case ast.Constant(value=value):
                return _constant(value)
            case ast.BoolOp(op=joined, values=parts):
                return self._joined(isinstance(joined, ast.And), parts, depth)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inside = self._wanted("truth", operand, depth)
                return "truth", lambda names: _opposite(inside(names))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inside = self._wanted("number", operand, depth)
                return "number", lambda names: -inside(names)
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _ARITHMETIC:
                return self._arithmetic(type(sign), left, right, depth)
            case ast.Compare():
                return self._comparison(node, depth)
        raise ValueError(
            f"{ast.unparse(node)[:60]!r} may not stand in an expression; it takes comparisons, and, or, not, in, "
            "+ - * /, numbers, texts and names"
        )

    def _name(self, name: str) -> tuple[Kind, Judge]:
        if name not in self.known:
            raise ValueError(f"unknown name {name!r} in the expression; {nearest(name, sorted(self.known))}")
        self.used[name] = None
        return self.known[name], operator.itemgetter(name)

    def _wanted(self, kind: Kind, node: ast.expr, depth: int) -> Judge:
        found, judge = self.read(node, depth + 1)
        if found != kind:
            wanted = "condition" if kind == "truth" else kind
            raise ValueError(f"{ast.unparse(node)[:60]!r} is a {found}; a {wanted} is needed there")
        return judge

    def _joined(self, is_and: bool, parts: list[ast.expr], depth: int) -> tuple[Kind, Judge]:
        judges = [self._wanted("truth", part, depth) for part in parts]
        return "truth", lambda names: _join((judge(names) for judge in judges), decides=not is_and)

    def _arithmetic(
        self, sign: type[ast.operator], left: ast.expr, right: ast.expr, depth: int
    ) -> tuple[Kind, Judge]:
        first, second = self._wanted("number", left, depth), self._wanted("number", right, depth)
        combine = _ARITHMETIC[sign]
        return "number", lambda names: combine(first(names), second(names))

    def _comparison(self, node: ast.Compare, depth: int) -> tuple[Kind, Judge]:
        sides = [node.left, *node.comparators]
        pairs = [
            self._pair(left, sign, right, depth)
            for left, sign, right in zip(sides, node.ops, sides[1:], strict=False)
        ]
        return "truth", lambda names: _join((pair(names) for pair in pairs), decides=False)

    def _pair(self, left: ast.expr, sign: ast.cmpop, right: ast.expr, depth: int) -> Judge:
        kind, first = self.read(left, depth + 1)
        if type(sign) in _MEMBERSHIP:
            return self._membership(kind, first, right, wanted=_MEMBERSHIP[type(sign)])
        if type(sign) in _ORDER and kind != "number":
            raise ValueError(f"{ast.unparse(left)[:60]!r} is a {kind}; only numbers are greater or less")
        compare = (_ORDER | _EQUALITY).get(type(sign))
        if compare is None or kind == "truth":
            raise ValueError(
                f"{ast.unparse(left)[:60]!r} is compared with a sign that is not < <= > >= == != in"
            )
        second = self._wanted(kind, right, depth)
        return lambda names: _known(compare, first(names), second(names))

    def _membership(self, kind: Kind, first: Judge, right: ast.expr, wanted: bool) -> Judge:
        elements = getattr(right, "elts", None)
        if elements is None:
            raise ValueError(f"{ast.unparse(right)[:60]!r}: after in stands a list, e.g. ('en', 'de')")
        members: set[Value] = set()
        for element in elements:
            found, judge = _constant(element.value) if isinstance(element, ast.Constant) else ("truth", None)
            if judge is None or found != kind:
                raise ValueError(
                    f"{ast.unparse(element)[:60]!r}: after in stands a list of {kind}s, e.g. ('en', 'de')"
                )
            members.add(judge({}))
        return lambda names: _known(lambda value, _: (value in members) is wanted, first(names), 0.0)


def _known(compare: Callable[[Any, Any], bool], left: Value, right: Value) -> Truth:
    """The comparison; None where a side is not a number, so that it may be either."""
    unknown = any(isinstance(side, float) and math.isnan(side) for side in (left, right))
    return None if unknown else bool(compare(left, right))


def _opposite(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _join(parts: Iterable[Truth], decides: bool) -> Truth:
    """and (False decides) or or (True decides) of three values (Kleene 1938): what is unknown may be either."""
    unknown = False
    for part in parts:
        if part is decides:
            return decides
        unknown |= part is None
    return None if unknown else not decides


def _constant(value: object) -> tuple[Kind, Judge]:
    if isinstance(value, str):
        return "text", lambda _names: value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return "number", lambda _names: number
    raise ValueError(f"{str(value)[:60]!r} is neither a finite number nor a text")

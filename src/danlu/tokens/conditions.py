"""A condition judged for all documents at once: what `danlu.expressions` decides for one, over whole columns.

Decides: truth of three values (Kleene 1938) as numbers, FALSE < UNSURE < TRUE, so that `and` is the least, `or` the
greatest. Guarantees: the same as `Condition.judge` of each row. Costs: some 10 nanoseconds a document and part of the
condition with numbers, 50 with texts.
"""

from __future__ import annotations

import ast
import functools
import operator
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

FALSE, UNSURE, TRUE = 0, 1, 2

Truths = npt.NDArray[np.int8]

_COMPARED: dict[type[ast.cmpop], Any] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_COMBINED: dict[type[ast.operator], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: np.where(right == 0.0, np.nan, left / right),
}


def judge_columns(where: str, columns: Mapping[str, npt.NDArray[Any]], rows: int) -> Truths:
    """FALSE, UNSURE or TRUE for each of `rows` documents, int8; `columns` holds a float64 or object array a name.

    The condition is one that `read_condition` took: its grammar is not checked again.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        truths = _value(ast.parse(where.strip(), mode="eval").body, columns)
    return np.broadcast_to(np.asarray(truths, dtype=np.int8), (rows,))


def _value(node: ast.expr, columns: Mapping[str, npt.NDArray[Any]]) -> Any:
    """The column of a part: numbers, texts or truths."""
    match node:
        case ast.Name(id=name):
            return columns[name]
        case ast.Constant(value=value):
            return np.array(value, dtype=object if isinstance(value, str) else np.float64)
        case ast.BoolOp(op=joined, values=parts):
            least_or_greatest = np.minimum if isinstance(joined, ast.And) else np.maximum
            return functools.reduce(least_or_greatest, (_value(part, columns) for part in parts))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return TRUE - _value(operand, columns)
        case ast.UnaryOp(operand=operand):
            return -_value(operand, columns)
        case ast.BinOp(left=left, op=sign, right=right):
            return _COMBINED[type(sign)](_value(left, columns), _value(right, columns))
        case ast.Compare(left=left, ops=signs, comparators=others):
            sides = [left, *others]
            pairs = (
                _pair(_value(one, columns), sign, other, columns)
                for one, sign, other in zip(sides, signs, sides[1:], strict=False)
            )
            return functools.reduce(np.minimum, pairs)
    raise AssertionError(f"{ast.dump(node)[:80]} is no part of a condition")


def _pair(left: Any, sign: ast.cmpop, other: ast.expr, columns: Mapping[str, npt.NDArray[Any]]) -> Any:
    """The truth of one comparison."""
    if isinstance(sign, (ast.In, ast.NotIn)):
        members = [left == _value(element, columns) for element in getattr(other, "elts", ())]
        within = functools.reduce(np.logical_or, members, np.zeros(np.shape(left), dtype=np.bool_))
        return _truths(within if isinstance(sign, ast.In) else ~within, _is_nan(left))
    right = _value(other, columns)
    return _truths(_COMPARED[type(sign)](left, right), _is_nan(left) | _is_nan(right))


def _truths(holds: Any, unknown: Any) -> Any:
    return np.where(unknown, UNSURE, np.where(holds, TRUE, FALSE)).astype(np.int8)


def _is_nan(values: Any) -> Any:
    """Where a number was not measured; texts always are."""
    return np.isnan(values) if values.dtype != object else np.zeros(values.shape, dtype=np.bool_)

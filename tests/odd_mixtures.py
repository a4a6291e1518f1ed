"""For each key of `[mixture]` and `[[stage]]` another value, and the settings under which it changes the batches."""

from __future__ import annotations

from typing import Any

# The small run's own weights are in the way of any other.
_BY_SIZE = {"mixture.weights": {}}

MIXTURES: dict[str, tuple[Any, dict[str, Any]]] = {
    "weights": ({"code": 0.3, "prose": 0.7}, {}),
    "temperature": (0.01, _BY_SIZE),
    "method": ("unimax", {**_BY_SIZE, "train.sequence_length": 8}),  # the two domains are nearly even by size
    "upsample": ({"code": 3.0}, _BY_SIZE),
    "max_epochs": (1.6, {"train.steps": 80}),
}

_MOST = {"long": {"of": "prose", "where": "source != 'prose/assert.txt' and source != 'code/heapq.py'"}}
_ONE = "source == 'prose/assert.txt'"
_SLICED = {**_BY_SIZE, "mixture.slice": _MOST}
_SHIFTED = {"stage": [{"until_tokens": 512}, {"mixture": {"weights": {"code": 0.1, "prose": 0.9}}}]}
WHOLE_RUN = "slices are of the whole run"

Stage = tuple[Any, dict[str, Any], str]
"""Another value, the base, and the key that is set in place of "*" and "[]"."""

NAMED: dict[str, Stage] = {
    "mixture.slice.*.of": ("code", _SLICED, "mixture.slice.long.of"),
    "mixture.slice.*.where": (_ONE, _SLICED, "mixture.slice.long.where"),
    "mixture.order_by": ({"prose": "-bytes"}, {}, ""),
    "stage[].until_tokens": (1024, _SHIFTED, "stage[0].until_tokens"),
    "stage[].train.sequence_length": (32, _SHIFTED, "stage[0].train.sequence_length"),
    "stage[].tokens.packing": ("none", _SHIFTED, "stage[0].tokens.packing"),
    "stage[].tokens.document_mask": (
        False,
        {"tokens.reset_positions": False, **_SHIFTED},
        "stage[0].tokens.document_mask",
    ),
    "stage[].tokens.reset_positions": (False, _SHIFTED, "stage[0].tokens.reset_positions"),
    "stage[].mixture.order_by": ({"prose": "-bytes"}, _SHIFTED, "stage[0].mixture.order_by"),
    **{
        f"stage[].mixture.{key}": (value, {**base, "stage": [{}]}, f"stage[0].mixture.{key}")
        for key, (value, base) in MIXTURES.items()
    },
}

REFUSED: dict[str, tuple[Stage, str]] = {
    "mixture.preset": (("llama3", _BY_SIZE, ""), "'general' has no text"),
    "stage[].mixture.preset": (
        ("llama3", {**_BY_SIZE, "stage": [{}]}, "stage[0].mixture.preset"),
        "'general' has no text",
    ),
    **{
        f"stage[].mixture.slice.*.{key}": (
            (
                value,
                {**_SLICED, "stage": [{"mixture": {"slice": _MOST}}]},
                f"stage[0].mixture.slice.long.{key}",
            ),
            WHOLE_RUN,
        )
        for key, value in (("of", "code"), ("where", _ONE))
    },
}

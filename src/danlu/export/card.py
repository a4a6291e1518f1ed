"""The model card of an export: README.md with the YAML head that the Hugging Face Hub reads.

Decides: it says what was measured and nothing else. A licence is not guessed: the owner of the text adds one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from danlu.log import human
from danlu.model.shape import Shape


@dataclass(frozen=True)
class CardInfo:
    """What the card says beside the shape.

    `domain_tokens`: training tokens seen, by domain. `evaluations`: the final rows, with domain, loss, perplexity,
    bits_per_byte and optionally baselines.
    """

    name: str
    parameters: int
    tokens: int
    steps: int
    sequence_length: int
    domain_tokens: Mapping[str, int] = field(default_factory=dict)
    evaluations: Sequence[Mapping[str, Any]] = ()
    recipe_digest: str = ""


def model_card(info: CardInfo, shape: Shape, max_difference: float) -> str:
    """README.md."""
    return "\n".join(
        [
            "---",
            *_front_matter(info),
            "---",
            "",
            f"# {info.name}",
            "",
            f"A base language model of {human(info.parameters)} parameters, trained from scratch with danlu on "
            f"{human(info.tokens)} tokens in {info.steps:,} steps. It continues text; it was not tuned to follow "
            "instructions or to be safe, and it says whatever its training text made likely.",
            "",
            "```python",
            "from transformers import AutoModelForCausalLM, AutoTokenizer",
            "",
            'model = AutoModelForCausalLM.from_pretrained(".")',
            'tokenizer = AutoTokenizer.from_pretrained(".")  # adds the begin-of-text token',
            'ids = tokenizer("Once upon a time", return_tensors="pt")',
            "print(tokenizer.decode(model.generate(**ids, max_new_tokens=48)[0]))",
            "```",
            "",
            *_training(info),
            *_evaluation(info),
            "## Architecture",
            "",
            *_table(("what", "value"), _architecture(info, shape)),
            "",
            "## Check",
            "",
            "The exported files were read by a second implementation of the network in float64. The largest difference "
            f"of a logit from the trained network's was {max_difference:.1e}.",
            *([f"Digest of the recipe: `{info.recipe_digest}`."] if info.recipe_digest else []),
            "",
        ]
    )


def _front_matter(info: CardInfo) -> list[str]:
    # A JSON text is a YAML text, so quoting is right whatever a name holds.
    lines = ["library_name: transformers", "pipeline_tag: text-generation", "tags: [danlu, base-model]"]
    if not info.evaluations:
        return lines
    lines += ["metrics: [perplexity]", "model-index:", f"- name: {json.dumps(info.name)}", "  results:"]
    for row in info.evaluations:
        name = json.dumps(f"{row['domain']} (validation)")
        lines += [
            "  - task: {type: text-generation}",
            f"    dataset: {{name: {name}, type: {json.dumps(row['domain'])}}}",
            "    metrics:",
            f"    - {{type: perplexity, value: {_number(row['perplexity'], 4)}}}",
            f"    - {{type: bits_per_byte, value: {_number(row['bits_per_byte'], 4)}}}",
        ]
    return lines


def _training(info: CardInfo) -> list[str]:
    if not info.domain_tokens:
        return []
    total = sum(info.domain_tokens.values()) or 1
    rows = [
        (name, human(count), f"{count / total:.1%}") for name, count in sorted(info.domain_tokens.items())
    ]
    return ["## Training text", "", *_table(("domain", "tokens seen", "share"), rows), ""]


def _evaluation(info: CardInfo) -> list[str]:
    if not info.evaluations:
        return []
    names = list(dict.fromkeys(name for row in info.evaluations for name in row.get("baselines") or {}))
    rows = [
        (
            row["domain"],
            _number(row["loss"], 4),
            _number(row["perplexity"], 2),
            _number(row["bits_per_byte"], 3),
            *(_number((row.get("baselines") or {}).get(name), 3) for name in names),
        )
        for row in info.evaluations
    ]
    header = ("domain", "loss (nats/token)", "perplexity", "bits per byte", *names)
    return [
        "## Evaluation",
        "",
        "On validation text that was split off by hash before training. Perplexity depends on the tokenizer; bits per "
        "byte can be compared with any model, and with the simple methods in the last columns.",
        "",
        *_table(header, rows),
        "",
    ]


def _architecture(info: CardInfo, shape: Shape) -> list[tuple[str, str]]:
    return [
        ("kind", "Qwen3 (Llama with QK-norm)" if shape.qk_norm else "Llama"),
        ("parameters", f"{info.parameters:,}"),
        ("layers, width, feed-forward", f"{shape.layers}, {shape.width}, {shape.ffn_width}"),
        ("heads, key-value heads, head width", f"{shape.heads}, {shape.kv_heads}, {shape.head_width}"),
        ("vocabulary", f"{shape.vocab_size:,}{' (embeddings tied)' if shape.tie_embeddings else ''}"),
        ("trained sequence length", f"{info.sequence_length:,}"),
    ]


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in lines]


def _number(value: float | None, digits: int) -> str:
    return "null" if value is None else f"{value:.{digits}f}"

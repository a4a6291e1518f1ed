"""How large a vocabulary, network and batch suit so much text on this machine? Simple rules, each with its reason.

The rules aim at about ten minutes of a laptop's cores; whoever wants more edits the recipe. No torch.
"""

from __future__ import annotations

from dataclasses import dataclass

from danlu.jobs.cores import usable_cores
from danlu.log import human, human_bytes

MINUTES = 10
EPOCHS = 3
_BYTES_A_TOKEN = 4.5
"""More than a small vocabulary reaches, so that the text is never over-estimated."""
_FLOPS_A_CORE = 5e10
"""What a core sustains in training a small network."""
_TOKENS_A_PARAMETER = 20
_VOCABULARIES = ((2e6, 1024), (2e7, 2048), (1e8, 4096), (1e9, 8192), (float("inf"), 16_384))
_STEPS = 1000


@dataclass(frozen=True)
class Sizes:
    """The numbers of a recipe, and for each key why."""

    vocab_size: int
    model_size: int
    minutes: int
    max_tokens: int
    sequence_length: int
    batch_tokens: int
    reasons: dict[str, str]


def choose_sizes(text_bytes: int, smallest_domain_bytes: int, cores: int | None = None) -> Sizes:
    """Sizes for `text_bytes` of text, the smallest domain having `smallest_domain_bytes`, on so many cores."""
    cores = cores or usable_cores()
    vocab_size = next(size for limit, size in _VOCABULARIES if text_bytes < limit)
    max_tokens = max(1024, round(EPOCHS * text_bytes / _BYTES_A_TOKEN))
    flops = cores * _FLOPS_A_CORE * MINUTES * 60
    by_time = (flops / (6 * _TOKENS_A_PARAMETER)) ** 0.5
    by_text = max_tokens / _TOKENS_A_PARAMETER
    model_size = _two_digits(min(max(min(by_time, by_text), 2e5), 2.5e7))
    sequence_length = _power_of_two(smallest_domain_bytes / _BYTES_A_TOKEN / 8, 16, 256)
    tokens = min(max_tokens, flops / (6 * model_size))
    batch_tokens = max(4 * sequence_length, _power_of_two(tokens / _STEPS, 1024, 65_536))
    amount = human_bytes(text_bytes)
    reasons = {
        "tokenizer.vocab_size": f"enough for {amount} of text; a larger one starves the network",
        "model.size": f"some {_TOKENS_A_PARAMETER} tokens a parameter, of {amount} in {MINUTES} min on {cores} cores",
        "train.minutes": "on this machine; or tokens = ..., or steps = ...",
        "train.sequence_length": "tokens of context"
        + ("" if sequence_length == 256 else ", less than the smallest domain"),
        "train.batch_tokens": f"of one step, so that {human(tokens)} tokens make some {_STEPS} steps or fewer",
        "plan.max_tokens": f"not more than {EPOCHS} times through the text, however fast the machine is",
        "optimizer.kind": "learns most in a short run",
        "checkpoint.every_minutes": "what a crash can cost at most",
    }
    return Sizes(vocab_size, model_size, MINUTES, max_tokens, sequence_length, batch_tokens, reasons)


def _power_of_two(value: float, least: int, most: int) -> int:
    """The largest power of two up to `value`, within [least, most]; both are powers of two."""
    return min(max(1 << max(0, int(value).bit_length() - 1), least), most)


def _two_digits(value: float) -> int:
    return int(float(f"{value:.2g}"))

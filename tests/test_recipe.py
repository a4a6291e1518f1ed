"""The whole recipe: defaults, precedence, contradictions, what is not built yet, and a text that reads back equal."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import house
from danlu.config import choices, key_paths
from danlu.errors import RecipeError
from danlu.recipe import NOT_YET, WORDS_NOT_YET, Recipe, dump_toml, load, parse, with_defaults
from danlu.rng import hash_text

SHORTEST = """\
name = "small"

[[corpus.source]]
domain = "prose"
paths = ["texts/*.md"]

[train]
tokens = "2M"
"""
TWO_DOMAINS = SHORTEST.replace("[train]", '[[corpus.source]]\ndomain = "zh.cn"\npaths = ["zh/*"]\n\n[train]')
KEYS = house.ROOT / "tests" / "golden" / "recipe_keys.txt"


def write(tmp_path: Path, text: str) -> Path:
    """A recipe file."""
    path = tmp_path / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(tmp_path: Path, text: str, *settings: str) -> str:
    """The error about a recipe, without its directory."""
    with pytest.raises(RecipeError) as caught:
        load(write(tmp_path, text), settings)
    return str(caught.value).replace(f"{tmp_path}/", "")


def test_shortest_recipe_has_defaults(tmp_path: Path) -> None:
    recipe = load(write(tmp_path, SHORTEST))
    assert recipe.train.tokens == 2_000_000
    assert recipe.seed == 1
    assert [step.use for step in recipe.corpus.step] == ["normalize", "length", "repetition", "exact"]


def test_precedence_is_defaults_then_recipe_then_settings(tmp_path: Path) -> None:
    path = write(tmp_path, SHORTEST + "batch_tokens = 8192\n")
    assert load(path).train.batch_tokens == 8192
    assert load(path).train.sequence_length == 1024
    both = load(path, ["train.batch_tokens=16384", "train.batch_tokens=32K", "train.sequence_length=1000"])
    assert (both.train.batch_tokens, both.train.sequence_length) == (32_000, 1000)


def test_round_trip(tmp_path: Path) -> None:
    text = TWO_DOMAINS.replace('paths = ["zh/*"]', 'paths = ["zh/*"]\ndocument = "\\n\\u007f\\t\\"丹炉\\\\"')
    recipe = load(
        write(tmp_path, text),
        [
            'mixture.weights={ prose = 0.25, "zh.cn" = 0.75 }',
            "monitor.samples=['', '''a\"b''']",
            "model.rope.theta=1e-4",
        ],
    )
    again = load(write(tmp_path, dump_toml(recipe)))
    assert again == recipe
    assert dump_toml(again) == dump_toml(recipe)


def test_dump_writes_every_key_that_has_a_value(tmp_path: Path) -> None:
    needed: dict[str, dict[str, Any]] = {
        "expression": {"keep": "length > 1"},
        "decontaminate": {"against": ["quiz.jsonl"]},
        "perplexity": {"models": {"en": "en.arpa", "*": "other.arpa"}},
        "classifier": {"model": "quality.safetensors"},
        "keywords": {"lists": {"*": "words.txt"}},
        "transformer": {"model": "education"},
    }
    uses = dict.fromkeys(re.findall(r"step\[(\w+)\]", " ".join(key_paths(Recipe))))
    steps = [{"use": use, **needed.get(use, {})} for use in uses]
    tables = tomllib.loads(SHORTEST)
    tables["corpus"]["step"] = steps
    tables["mixture"] = {"slice": {"hard": {"of": "prose", "where": "bytes > 9"}}}
    tables["stage"] = [{"until_tokens": "1M"}, {}]
    recipe = parse(tables)
    text = dump_toml(recipe)
    written = tomllib.loads(text)
    for key in key_paths(Recipe):
        assert has_key(written, key) or find(recipe, key) is None, key
    assert load(write(tmp_path, text)) == recipe


def find(value: Any, key: str) -> Any:
    """What stands at a key's path, in tables or in a recipe; KeyError or AttributeError where nothing does."""
    for name in re.findall(r"\w+|\*|\[\w*\]", key):
        if name == "*":
            value = next(iter(value.values()))
        elif name == "[]":
            value = value[0]
        elif name.startswith("["):
            value = next(item for item in value if find(item, "use") == name.strip("[]"))
        else:
            value = value[name] if isinstance(value, dict) else getattr(value, name)
    return value


def has_key(tables: dict[str, Any], key: str) -> bool:
    try:
        find(tables, key)
    except KeyError:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SHORTEST.replace("tokens", "tokns"), "recipe.toml, line 8: train.tokns: unknown key 'tokns'; did you mean"),
        (SHORTEST.replace("paths", "path"), "recipe.toml, line 5: corpus.source[0].path: unknown key 'path'; did you"),
        (SHORTEST + "learning_rate = 1", "did you mean optimizer.learning_rate?"),
        (SHORTEST + "[optimiser]", "line 9: optimiser: unknown key 'optimiser'; did you mean 'optimizer'?"),
        ("name = 'x'\n", "recipe.toml: corpus: is missing"),
        (SHORTEST + "steps = 5", "recipe.toml, line 7: train: the length of the run is one of tokens, steps and "
         "minutes: tokens and steps contradict"),
        (SHORTEST.replace('tokens = "2M"', ""), "none is given"),
        (SHORTEST + "batch_tokens = 1000", "is not a multiple of sequence_length = 1024; nearest: 1024"),
        (SHORTEST + "[model]\nsize = '1M'\nwidth = 64", "line 9: model: size and a shape (width, layers, heads, ...)"),
        (SHORTEST + "[tokens]\ndocument_mask = false", "line 9: tokens: reset_positions without document_mask"),
        (SHORTEST + "[schedule]\nkind = 'cosine'\ndecay_share = 0.5", "decay_share has no effect without"),
        (SHORTEST + "[optimizer]\nmomentum = 0.5", 'line 9: optimizer: momentum has no effect without kind = "muon"'),
        (SHORTEST + "[[corpus.step]]\nuse = 'exact'\n[[corpus.step]]\nuse = 'exact'", "step 'exact' is listed twice"),
        (SHORTEST + "[[corpus.step]]\nuse = 'exactly'", "line 9: corpus.step[0]: use = 'exactly' is not known; did you "
         "mean 'exact'?"),
        (SHORTEST + "[plan]\nmin_tokens = 5", "line 9: plan.min_tokens and plan.max_tokens have no effect"),
        (SHORTEST + "[mixture]\nweights = { proze = 1.0 }", "line 10: mixture.weights: 'proze' is no domain of"),
        (SHORTEST + "[mixture]\nweights = { prose = -1.0 }", "the weight of 'prose' is -1.0; it must be 0 (not read)"),
        (TWO_DOMAINS + "[mixture]\nweights = { prose = 1 }", "line 14: mixture.weights: 'zh.cn' has no weight; "
         "domains: prose, zh.cn"),
        (SHORTEST.replace('"small"', '".."'), "recipe.toml, line 1: name: string should match pattern"),
        (SHORTEST.replace('"small"', '"a/b"'), "recipe.toml, line 1: name: string should match pattern"),
        (SHORTEST.replace('"prose"', '"../x"'), "line 4: corpus.source[0].domain: string should match pattern"),
        (SHORTEST + "[optimizer]\nlearning_rate = 0", "optimizer.learning_rate: input should be greater than 0"),
        (SHORTEST + "[schedule]\nwarmup_tokens = -1", "schedule.warmup_tokens: input should be greater than or"),
        (SHORTEST + "[tokenizer]\npath = 't.json'\nvocab_size = 300", "vocab_size has no effect with path"),
        (SHORTEST + "[evaluate]\nevery_steps = true", "line 9: evaluate: every_steps is not a switch: true and"),
        (SHORTEST + "[loss]\nz_loss = nan", "line 10: loss.z_loss: input should be a finite number"),
    ],
)  # fmt: skip
def test_refused_with_place_and_advice(text: str, message: str, tmp_path: Path) -> None:
    assert message in refusal(tmp_path, text)


PLANNED = {
    "stage.objective": "[[stage]]\nobjective = { weights = { causal = 1.0 } }",
    "stage.model": "[[stage]]\nmodel = { rope = { kind = 'yarn' } }",
    "stage.mixture.file": "[[stage]]\nmixture = { file = 'mix.toml' }",
    "stage.mixture.online": "[[stage]]\nmixture = { online = 'odm' }",
    "parallel": "[parallel]\nshard = -1",
    "continue": "[continue]",
    "guard": "[guard]\nwindow = 128",
    "mixture.file": "[mixture]\nfile = 'mix.toml'",
    "mixture.online": "[mixture]\nonline = 'odm'",
    "objective.prefix": "[objective.prefix]\nrate = 0.9",
    "objective.mlm": "[objective.mlm]\nrate = 0.9",
    "objective.span": "[objective.span]\nrate = 0.9",
    "objective.denoise": "[objective.denoise]\nrate = 0.9",
    "objective.ul2": "[objective.ul2]\nrate = 0.9",
    "objective.fim": "[objective.fim]\nrate = 0.9",
    "model.preset": "[model]\npreset = 'llama3-8b'",
    "model.dropout": "[model]\ndropout = 0.0",
    "model.parametrization": "[model]\nparametrization = 'mup'",
    "model.rope.kind": "[model.rope]\nkind = 'yarn'",
    "model.rope.factor": "[model.rope]\nfactor = 4.0",
    "train.recompute": "recompute = 'none'",
    "optimizer.state": "[optimizer]\nstate = 'fp32'",
    "schedule.batch_ramp": "[schedule]\nbatch_ramp = []",
    "checkpoint.replicas": "[checkpoint]\nreplicas = []",
    "evaluate.tasks": "[evaluate]\ntasks = []",
    "monitor.sinks": "[monitor]\nsinks = []",
    "plan.budget": "[plan]\nbudget = {}",
    "plan.price_per_gpu_hour": "[plan]\nprice_per_gpu_hour = 2.5",
}


@pytest.mark.parametrize("key", sorted({*NOT_YET, *PLANNED}))
def test_what_is_not_built_is_refused_by_name(key: str, tmp_path: Path) -> None:
    text = SHORTEST + PLANNED[key] + "\n"
    header = PLANNED[key].splitlines()[0]
    line = len(SHORTEST.splitlines()) + (1 if key.rpartition(".")[2] in header else 2)
    said = refusal(tmp_path, text).replace("stage[0]", "stage")
    assert said == f"recipe.toml, line {line}: {key} is not supported yet; remove it"


def test_what_is_not_built_is_refused_as_a_setting_too(tmp_path: Path) -> None:
    message = refusal(tmp_path, SHORTEST, "parallel.shard=2")
    assert message == "--set parallel.shard=2: parallel is not supported yet; remove it"


@pytest.mark.parametrize(
    ("key", "word"), [(key, word) for key, words in WORDS_NOT_YET.items() for word in words]
)
def test_a_planned_value_is_refused_by_name(key: str, word: str, tmp_path: Path) -> None:
    table, _, name = key.rpartition(".")
    header = f"[[{table}]]" if table in ("corpus.source", "corpus.step") else f"[{table}]"
    line, shown = (
        len(SHORTEST.splitlines()) + 2,
        key.replace("source", "source[1]").replace("step", "step[0]"),
    )
    supported = choices(Recipe, key.split("."))
    assert word not in supported
    assert refusal(tmp_path, f"{SHORTEST}{header}\n{name} = '{word}'\n") == (
        f"recipe.toml, line {line}: {shown} = '{word}' is not supported yet; supported: {', '.join(supported)}"
    )


def test_a_planned_value_as_a_setting_is_refused_by_name(tmp_path: Path) -> None:
    assert refusal(tmp_path, SHORTEST, "optimizer.kind=lion") == (
        "--set optimizer.kind=lion: optimizer.kind = 'lion' is not supported yet; supported: adamw, muon"
    )


def test_a_word_that_nobody_planned_gets_the_nearest_or_all(tmp_path: Path) -> None:
    assert "input should be 'adamw' or 'muon', not 'lino'" in refusal(
        tmp_path, SHORTEST, "optimizer.kind=lino"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[monitor]\nsample_tokens = 9", "monitor: sample_tokens has no effect without samples"),
        (
            "[evaluate]\nevery_steps = 0\nmax_tokens = 9",
            "evaluate: max_tokens has no effect with every_steps = 0",
        ),
        (
            "[[corpus.source]]\ndomain = 'b'\npaths = ['b.jsonl']\ndocument = 'line'",
            "corpus.source[1]: document has no effect on format jsonl, only on docx, epub,",
        ),
    ],
)
def test_keys_without_effect_are_refused(text: str, message: str, tmp_path: Path) -> None:
    assert message in refusal(tmp_path, f"{SHORTEST}{text}\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tokens.join]\nproes = 'repo'", "line 10: tokens.join: 'proes' is no domain of [[corpus"),
        ("[tokens.megatron]\nprose = 'x'", "line 10: tokens.megatron: 'prose' is a domain of its own"),
        ("[tokens.megatron]\nbooks = 'x'", "ids mean nothing without the tokenizer that made"),
        (
            "[tokens.join]\nprose = 'repo'\n[mixture.slice.hard]\nof = 'prose'\nwhere = 'bytes > 5'",
            "mixture.slice.hard.of: the documents of 'prose' are joined (tokens.join)",
        ),
        (
            "[tokenizer]\npath = 't.json'\n[tokens.megatron]\nb = 'x'\n[mixture]\norder_by = { b = 'bytes' }",
            "mixture.order_by: the documents of 'b' are of ids (tokens.megatron)",
        ),
        (
            "[tokenizer]\npath = 't.json'\n[tokens.megatron]\nb = 'x'\n[mixture]\nweights = { prose = 1 }",
            "mixture.weights: 'b' has no weight",
        ),
        ("[[stage]]\ntokens = { join = { prose = 'x' } }", "stage[0].tokens.join"),
        ("[[stage]]\nmixture = { order_by = { proze = 'bytes' } }", "stage[0].mixture.order_by: no domain"),
    ],
)  # fmt: skip
def test_what_is_joined_or_given_as_ids_must_fit(text: str, message: str, tmp_path: Path) -> None:
    assert message in refusal(tmp_path, f"{SHORTEST}{text}\n")


def test_a_resolved_recipe_without_samples_and_evaluations_reloads(tmp_path: Path) -> None:
    text = SHORTEST.replace("texts/*.md", "texts/*.parquet")
    recipe = load(write(tmp_path, text), ["evaluate.every_steps=0"])
    assert load(write(tmp_path, dump_toml(recipe))) == recipe


def test_no_key_is_both_built_and_not(tmp_path: Path) -> None:
    built = {re.sub(r"\[\w*\]", "", key) for key in key_paths(Recipe)}
    assert not built & set(NOT_YET)


def test_parse_without_a_file() -> None:
    with pytest.raises(RecipeError, match=r"^name: is missing$"):
        parse({"corpus": {"source": [{"domain": "a", "paths": ["a"]}]}, "train": {"steps": 1}})


def test_keys_are_frozen() -> None:
    """Users' recipes hold these names.

    After a change: write the new list to tests/golden/recipe_keys.txt, and a line with its digest, which the failure
    shows, to CHANGELOG.md. A key that goes needs a reader that still takes it, or a refusal that names its successor.
    """
    now = list(key_paths(Recipe))
    frozen = KEYS.read_text(encoding="utf-8").splitlines()
    assert now == frozen, "\n".join(difflib.unified_diff(frozen, now, lineterm="", n=0))
    digest = f"{hash_text(KEYS.read_bytes()):016x}"
    assert f"`{digest}`" in (house.ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), (
        f"recipe keys `{digest}`"
    )


def without_each_key(value: Any) -> Iterator[Any]:
    """The value without one of its keys, for every key at any depth."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        if isinstance(value, dict):
            yield {name: item for name, item in value.items() if name != key}
        for less in without_each_key(inner):
            changed = value.copy()
            changed[key] = less
            yield changed


def test_a_key_that_older_settings_do_not_have_has_its_default() -> None:
    now = parse(tomllib.loads(SHORTEST)).model_dump(mode="json", exclude_none=True)
    filled = [with_defaults(old, now) == now for old in without_each_key(now)]
    # Nothing stands for name, corpus, its source, domain and paths, train, its tokens, a given weight, and each use.
    assert len(filled) > 60
    assert filled.count(False) == 8 + len(now["corpus"]["step"])


def test_keys_that_are_not_asked_for_are_not_filled_in() -> None:
    now = parse(tomllib.loads(SHORTEST)).model_dump(mode="json", exclude_none=True)
    del now["train"]["micro_batch"], now["loss"]
    assert with_defaults({"train": {}, "data": "d", "tokenizer": "t"}, {**now, "tokenizer": "u"}) == {
        **{name: now[name] for name in now if name not in ("name", "corpus")},
        "train": {name: now["train"][name] for name in now["train"] if name != "tokens"},
        "data": "d",
        "tokenizer": "t",
    }


@pytest.mark.parametrize("setting", ["train.tokens=60K", "train.steps=7", "train.minutes=3"])
def test_a_length_that_is_set_replaces_the_recipe_s(tmp_path: Path, setting: str) -> None:
    path = tmp_path / "recipe.toml"
    source = 'name = "a"\n[[corpus.source]]\ndomain = "a"\npaths = ["a"]\n'
    path.write_text(source + '[train]\nminutes = 10\n[plan]\nmax_tokens = "1M"\n', encoding="utf-8")
    recipe = load(path, [setting])
    given = [key for key in ("tokens", "steps", "minutes") if getattr(recipe.train, key) is not None]
    assert given == [setting.split(".")[1].split("=")[0]]
    assert recipe.plan.max_tokens == (1_000_000 if given == ["minutes"] else None)
    with pytest.raises(RecipeError, match="tokens and steps contradict"):
        load(path, ["train.tokens=60K", "train.steps=7"])

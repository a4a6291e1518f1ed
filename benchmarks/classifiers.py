"""How well and how fast trained scorers tell texts apart: toxicity beside scikit-learn, and prose from what is none.

Toxicity: trained on one labelled file without a held-out fifth, measured there and on another file; scikit-learn gets
the same texts in a Python of its own. Areas come with a 95 % interval of 500 resamples. Quality: positives are
paragraphs of prose; negatives are as many, a like part of each kind: the same paragraphs with their words shuffled,
lines that the main text of a page lacks, short sayings, and manual pages as roff source. Precision is that at 90 %
recall on what was held out; below it stands how many negatives of each kind are at or above the threshold. Times are
CPU seconds of one core.

Run:  python benchmarks/classifiers.py --toxic LABELLED.jsonl.gz --positive hate offensive --other OTHER.jsonl.gz
        --other-positive Toxic --peer PYTHON_OF_SKLEARN --prose wikitext.txt.gz --pages 'handbook/*.html'
        --sayings 'fortunes/*' --roff 'man1/*.gz' [--frames 'docs/*.html'] [--curves FOLDER]
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from danlu.scorers.curve import write_curve_page
from danlu.scorers.examples import (
    Columns,
    Examples,
    Source,
    find_files,
    is_held_out,
    read_labelled,
    read_sides,
)
from danlu.scorers.metrics import area_under_curve
from danlu.scorers.model_file import Scorer, score_text
from danlu.scorers.settings import Training
from danlu.scorers.train import train_scorer
from machine import machine

HELD_OUT = 0.2
RESAMPLES = 500
SHORTEST, LONGEST = 200, 3000
"""Characters of the texts of the quality scorer."""
PEER_SCRIPT = Path(__file__).parent / "peers" / "sklearn_scorer.py"

Floats = npt.NDArray[np.float64]


def megabytes(texts: list[str]) -> float:
    """Their size in UTF-8."""
    return sum(len(text.encode("utf-8", "replace")) for text in texts) / 1e6


def scores_of(texts: list[str], scorer: Scorer) -> Floats:
    """Every text's score."""
    return np.array([score_text(text, scorer) for text in texts])


def area(scores: Floats, positive: npt.NDArray[np.bool_]) -> str:
    """The area under the curve, and the interval in which 95 % of the resamples' areas are."""
    drawn = np.random.default_rng(1)
    found = []
    for _ in range(RESAMPLES):
        places = drawn.integers(0, len(scores), len(scores))
        found.append(area_under_curve(scores[places], positive[places]))
    low, high = np.quantile(found, [0.025, 0.975])
    return f"{area_under_curve(scores, positive):.4f} ({low:.3f} to {high:.3f})"


def split(examples: Examples) -> tuple[list[str], Floats, list[str], npt.NDArray[np.bool_]]:
    """Texts and labels to train on, texts and sides held out."""
    held = is_held_out(examples.texts, HELD_OUT)
    texts = np.array(examples.texts, object)
    return texts[~held].tolist(), examples.labels[~held], texts[held].tolist(), examples.labels[held] > 0


def toxicity(options: argparse.Namespace) -> None:
    """Prints the table of the toxicity scorers."""
    examples = read_labelled(options.toxic, Columns(positive=tuple(options.positive)))
    other = read_labelled(options.other, Columns(positive=tuple(options.other_positive)))
    training = Training(name="toxicity", positive="drop", held_out=HELD_OUT, precision=options.precision)
    train_scorer(small_part(examples), training)  # compiles
    begun = time.process_time()
    scorer = train_scorer(examples, training)
    train_s = time.process_time() - begun
    trained, labels, held, positive = split(examples)
    begun = time.process_time()
    found = scores_of(held, scorer)
    score_s = time.process_time() - begun
    others = scores_of(list(other.texts), scorer)
    size = megabytes(list(examples.texts))
    print(f"{len(trained)} texts to train on, {len(held)} held out, {len(other.texts)} of the other file")
    print(f"{'':22}{'held out':>26}{'other file':>26}{'train MB/s':>12}{'score MB/s':>12}")
    print(
        f"{'danlu':22}{area(found, positive):>26}{area(others, other.labels > 0):>26}"
        f"{size / train_s:12.1f}{megabytes(held) / score_s:12.1f}"
    )
    for strength in (1.0, training.strength) if options.peer else ():
        asked = {
            "texts": trained,
            "sides": labels.tolist(),
            "strength": strength,
            "score": {"held": held, "other": other.texts},
        }
        answer = subprocess.run(
            [options.peer, str(PEER_SCRIPT)],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            check=True,
        )
        peer = json.loads(answer.stdout)
        ours, theirs = (np.array(peer["scores"][name]) for name in ("held", "other"))
        print(
            f"{f'scikit-learn, C = {strength:g}':22}{area(ours, positive):>26}"
            f"{area(theirs, other.labels > 0):>26}{megabytes(trained) / peer['train_s']:12.1f}"
            f"{megabytes([*held, *other.texts]) / peer['score_s']:12.1f}"
        )
    show(scorer, options)


def small_part(examples: Examples) -> Examples:
    """A few of the examples."""
    return Examples(examples.texts[:500], examples.labels[:500], (), {})


def show(scorer: Scorer, options: argparse.Namespace) -> None:
    """The threshold, and the page of the curve where asked."""
    chosen = scorer.card.threshold
    print(
        f"threshold {chosen.value:.4f} for {chosen.aim}: precision {chosen.precision:.4f}, "
        f"recall {chosen.recall:.4f} on what was held out"
    )
    if options.curves:
        write_curve_page(Path(options.curves) / f"{scorer.card.name}.html", scorer.card)


def prose(options: argparse.Namespace) -> list[str]:
    """Paragraphs of text files, and of the main text of pages."""
    found = list(read_sides(options.prose, options.prose).texts)
    for path in files(options.pages):
        found += [part.strip() for part in texts_of_page(path)[0].split("\n\n")]
    return [text[:LONGEST] for text in found if len(text) >= SHORTEST]


def texts_of_page(path: Path) -> tuple[str, str]:
    """A page's main text, and what all of its text has besides."""
    from resiliparse.extract.html2text import extract_plain_text

    page = path.read_text(encoding="utf-8", errors="replace")
    main = extract_plain_text(page, main_content=True)
    lines = set(main.splitlines())
    everything = extract_plain_text(page, main_content=False, alt_texts=True)
    return main, "\n".join(line for line in everything.splitlines() if line not in lines)


def files(patterns: list[str]) -> list[Path]:
    """The files of globs, sorted."""
    return find_files(patterns) if patterns else []


def negatives(options: argparse.Namespace, positives: list[str]) -> dict[str, list[str]]:
    """Kind -> texts that are no prose."""
    drawn = random.Random(1)
    shuffled = []
    for text in positives:
        words = text.split()
        drawn.shuffle(words)
        shuffled.append(" ".join(words))
    frames = [texts_of_page(path)[1] for path in files(options.frames)]
    sayings = [
        part.strip()
        for path in files(options.sayings)
        for part in path.read_text(encoding="utf-8", errors="replace").split("\n%\n")
    ]
    roff = []
    for path in files(options.roff):
        source = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
        roff += [source[start : start + 1000] for start in range(0, len(source), 1000)]
    kinds = {"shuffled words": shuffled, "frames of pages": frames, "sayings": sayings, "roff": roff}
    return {kind: [text[:LONGEST] for text in texts if len(text) >= 40] for kind, texts in kinds.items()}


def quality(options: argparse.Namespace) -> None:
    """Prints the table of the quality scorer."""
    positives = prose(options)
    drawn = random.Random(2)
    kinds = {kind: texts for kind, texts in negatives(options, positives).items() if texts}
    share = len(positives) // len(kinds)
    kinds = {kind: drawn.sample(texts, min(share, len(texts))) for kind, texts in kinds.items()}
    known = set(positives)
    labelled = dict.fromkeys(positives, 1.0) | {
        text: 0.0 for texts in kinds.values() for text in texts if text not in known
    }
    examples = Examples(
        tuple(labelled), np.array(list(labelled.values())), (Source("prose and others", len(labelled)),), {}
    )
    begun = time.process_time()
    scorer = train_scorer(examples, Training(name="quality", held_out=HELD_OUT, recall=0.9))
    train_s = time.process_time() - begun
    held = is_held_out(examples.texts, HELD_OUT)
    chosen = [text for text, out in zip(examples.texts, held, strict=True) if out]
    begun = time.process_time()
    scores_of(chosen, scorer)
    score_s = time.process_time() - begun
    card = scorer.card
    print(
        f"\nquality: {len(positives)} positives, {len(labelled) - len(positives)} negatives; area "
        f"{card.metrics['area_under_curve']:.4f}, precision at {card.threshold.recall:.1%} recall "
        f"{card.threshold.precision:.2%}; trained {megabytes(list(examples.texts)) / train_s:.1f} MB/s, "
        f"scored {megabytes(chosen) / score_s:.1f} MB/s"
    )
    for kind, texts in kinds.items():
        out = [text for text, is_out in zip(texts, is_held_out(texts, HELD_OUT), strict=True) if is_out]
        beyond = int((scores_of(out, scorer) >= card.threshold.value).sum())
        print(f"  {kind:18}{beyond:5} of {len(out):5} held out are taken for prose")
    show(scorer, options)


def main() -> None:
    """Parses the command line and prints both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("toxic", "other", "prose"):
        parser.add_argument(f"--{name}", nargs="+", required=True)
    for name in ("positive", "other-positive", "pages", "frames", "sayings", "roff"):
        parser.add_argument(f"--{name}", nargs="+", default=[])
    parser.add_argument("--precision", type=float, default=0.98)
    parser.add_argument("--peer", help="a Python with scikit-learn")
    parser.add_argument("--curves", help="a folder for the pages of both curves")
    options = parser.parse_args()
    print(machine())
    toxicity(options)
    quality(options)


if __name__ == "__main__":
    main()

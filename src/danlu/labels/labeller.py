"""Documents labelled by an endpoint: each asked about once, labels stored in the order of the draw, within the caps.

Decides: a label is that of "endpoint:MODEL"; an answer that cannot be read gives none and is not asked for again. A
document that the server refuses is counted and left, and offered again by the next command; where it refuses the first
few, and has answered nothing, all questions are taken to be refused. Where the next question might pass a cap, asking
ends. Guarantees: a command that is typed again pays for no answer twice.
Costs: `concurrency` threads that wait for the server.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from danlu.labels.answers import Answer, Answers, Usage, dearest, question_key
from danlu.labels.endpoint import RefusedError, Sleep, ask, read_key
from danlu.labels.prompt import Prompt, fill, read_answer, store_prompt
from danlu.labels.sample import Drawn
from danlu.labels.settings import Endpoint, Scale
from danlu.labels.store import Label, add_label, read_labels, standing

ANSWERS = "answers.jsonl"
"""The file of answers, beside the labels."""
_MOST_REFUSED = 5
"""So many documents are refused from the first on before it is taken to be of all."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """What an endpoint was asked and what became of it."""

    labelled: int
    """New labels."""
    unreadable: int
    """Answers that are no label."""
    refused: int
    """Documents that the server does not take."""
    refusal: str
    """What it said of the first of them."""
    known: int
    """Documents that it had labelled before."""
    left: int
    """Documents that were not asked about, since a cap was reached."""
    spent: Usage
    """By all that the folder's answers have cost, earlier ones too."""
    cost: float
    torn: int
    """Lines of labels and answers that a crash tore."""


def name_of_endpoint(settings: Endpoint) -> str:
    """Who its labels are by."""
    return f"endpoint:{settings.model}"


def label_by_endpoint(
    documents: Sequence[Drawn],
    labels: Path,
    scale: Scale,
    settings: Endpoint,
    prompt: Prompt,
    now: Callable[[], datetime],
    sleep: Sleep = time.sleep,
) -> Labelled:
    """Labels the documents that this model has not labelled yet; prompt and answers lie beside the file `labels`.

    Raises NoAnswerError or InputError where the server gives no answers; what it gave before is stored. RefusedError
    where it refuses each of the first few.
    """
    key = read_key(settings)
    store_prompt(labels.parent, prompt)
    answers, stored = Answers(labels.with_name(ANSWERS)), read_labels(labels)
    who = name_of_endpoint(settings)
    own = standing(stored.labels, scale).get(who, {})
    # Another prompt is another question, whatever the model said before.
    known = {text_hash for text_hash, label in own.items() if label.prompt == prompt.digest}
    missing = [document for document in documents if document.text_hash not in known]
    said = _in_order(missing, settings, prompt, answers, key, sleep)
    labelled = unreadable = refused = 0
    refusal = ""
    for document, answer in said:
        if isinstance(answer, RefusedError):
            refused += 1
            refusal = refusal or str(answer)
            if refused == _MOST_REFUSED and not (known or labelled or unreadable):
                raise answer
            continue
        value = None if answer.cut_off else read_answer(answer.text, scale)
        if value is None:
            unreadable += 1
            continue
        labelled += 1
        when = now().isoformat(timespec="seconds")
        fields = (document.number, document.id, document.domain, document.text_hash, value, who, when)
        add_label(labels, Label(*fields, scale=scale, prompt=prompt.digest))
    return Labelled(
        labelled,
        unreadable,
        refused,
        refusal,
        known=len(documents) - len(missing),
        left=len(missing) - labelled - unreadable - refused,
        spent=answers.spent,
        cost=answers.spent.cost(settings),
        torn=stored.torn + answers.torn,
    )


def _in_order(
    documents: Sequence[Drawn], settings: Endpoint, prompt: Prompt, answers: Answers, key: str, sleep: Sleep
) -> Iterator[tuple[Drawn, Answer | RefusedError]]:
    """The documents with their answers, in order, as far as the caps allow; a few are asked about ahead."""
    ahead: deque[tuple[Drawn, Future[Answer | RefusedError | None]]] = deque()
    with ThreadPoolExecutor(settings.concurrency) as threads:
        for document in documents:
            words = fill(prompt, document.text, settings.max_characters)
            ahead.append((document, threads.submit(_answer, settings, words, answers, key, sleep)))
            if len(ahead) >= settings.concurrency:
                asked, future = ahead.popleft()
                answer = future.result()
                if answer is None:
                    break
                yield asked, answer
        for asked, future in ahead:
            # Behind one that was too dear a shorter one may have fitted.
            if (answer := future.result()) is not None:
                yield asked, answer


def _answer(
    settings: Endpoint, words: str, answers: Answers, key: str, sleep: Sleep
) -> Answer | RefusedError | None:
    """The stored answer to a question, or a new one, which is stored; None where it might pass a cap."""
    name, most = question_key(settings, words), dearest(settings, words)
    if (known := answers.find(name)) is not None:
        return known
    reserved = answers.reserve(most, settings)
    if not reserved:
        return None

    def lost() -> bool:
        nonlocal reserved
        answers.lose(name, most)
        reserved = answers.reserve(most, settings)
        return reserved

    try:
        answer = ask(settings, words, key, sleep, lost)
    except RefusedError as error:
        return error
    else:
        answers.add(name, most, answer)
        reserved = False
        return answer
    finally:
        if reserved:
            answers.release(most)

"""Small n-gram models: sentences to train on, files of them, and slow references that need no numba."""

import math
import random
from collections import Counter, defaultdict

ARPA = """\\data\\
ngram 1=5
ngram 2=4
ngram 3=2

\\1-grams:
-1.5\t<unk>\t0
0\t<s>\t-0.4
-1.0\t</s>
-0.7\ta\t-0.3
-0.9\t字\t-0.2

\\2-grams:
-0.4\t<s> a\t-0.1
-0.5\ta 字\t-0.25
-0.6\t字 </s>
-0.2\ta a\t0

\\3-grams:
-0.3\t<s> a 字
-0.15\ta 字 </s>

\\end\\
"""


def sentences(count, seed=0, words=30):
    """Sentences of a small language, some words of which follow others more often."""
    random_numbers = random.Random(seed)
    lines = []
    for _ in range(count):
        word, line = random_numbers.randrange(words), []
        for _ in range(random_numbers.randint(1, 12)):
            line.append(f"w{word}")
            word = (
                word * 7 + random_numbers.choice([1, 1, 1, 2, 3, random_numbers.randrange(words)])
            ) % words
        lines.append(" ".join(line))
    return lines


class SlowModel:
    """Interpolated modified Kneser-Ney by its recursive definition, without pruning and without logarithms."""

    def __init__(self, lines, order):
        self.order = order
        self.counts = [Counter() for _ in range(order + 1)]
        seen = Counter()
        for line in lines:
            words = ["<s>", *line.split(), "</s>"]
            for end in range(2, len(words) + 1):
                for length in range(1, min(order, end) + 1):
                    seen[tuple(words[end - length : end])] += 1
        before = defaultdict(set)
        for gram in seen:
            before[gram[1:]].add(gram[0])
        for gram, count in seen.items():
            whole = len(gram) == order or gram[0] == "<s>"
            self.counts[len(gram)][gram] = count if whole else len(before[gram])
        self.words = {gram[0] for gram in self.counts[1]} | {"<unk>"}
        self.follow = defaultdict(list)
        for counts in self.counts[1:]:
            for gram, count in counts.items():
                self.follow[gram[:-1]].append(count)
        self.discounts = [None, *(self._discounts(counts) for counts in self.counts[1:])]

    @staticmethod
    def _discounts(counts):
        n = [sum(count == j for count in counts.values()) for j in range(5)]
        if not all(n[1:4]):
            return (0, 0.5, 1, 1.5)
        y = n[1] / (n[1] + 2 * n[2])
        found = [0, *(j - (j + 1) * y * n[j + 1] / n[j] for j in (1, 2, 3))]
        return found if all(0 <= found[j] <= j for j in (1, 2, 3)) else (0, 0.5, 1, 1.5)

    def probability(self, context, word):
        """Of a word after a tuple of words."""
        context = context[max(0, len(context) - self.order + 1) :]
        lower = self.probability(context[1:], word) if context else 1 / len(self.words)
        follow = self.follow.get(context)
        if not follow:
            return lower
        discounts = self.discounts[len(context) + 1]
        count = self.counts[len(context) + 1][(*context, word)]
        left = sum(discounts[min(number, 3)] for number in follow) / sum(follow)
        return max(count - discounts[min(count, 3)], 0) / sum(follow) + left * lower

    def score(self, line):
        """log10 of the probability of a sentence."""
        words = ["<s>", *(word if word in self.words else "<unk>" for word in line.split()), "</s>"]
        return sum(
            math.log10(self.probability(tuple(words[:place]), words[place])) for place in range(1, len(words))
        )


def read_slowly(text):
    """An ARPA file's n-grams: words -> (log10 probability, log10 weight)."""
    grams, order = {}, 0
    for line in text.split("\n"):
        if line.endswith("-grams:"):
            order = int(line[1:].partition("-")[0])
        elif order and line and not line.startswith("\\"):
            fields = line.split()
            grams[tuple(fields[1 : order + 1])] = (float(fields[0]), float((fields[order + 1 :] or [0])[0]))
    return grams


def score_slowly(grams, order, line):
    """log10 of the probability of a sentence by recursive back-off."""

    def log10(context, word):
        if (*context, word) in grams:
            return grams[*context, word][0]
        if not context:
            return -100.0
        return grams.get(context, (0, 0))[1] + log10(context[1:], word)

    words = ["<s>", *line.split(), "</s>"]
    words = [word if (word,) in grams else "<unk>" for word in words]
    return sum(log10(tuple(words[max(0, at - order + 1) : at]), words[at]) for at in range(1, len(words)))

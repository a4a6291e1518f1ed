"""scikit-learn's hashed runs of characters with logistic regression, on the texts that classifiers.py hands over.

Reads JSON from standard input: texts and sides to train on, and texts of each name to score. Answers with the scores,
and the CPU seconds of training and scoring. Runs in a Python of its own.
"""

from __future__ import annotations

import json
import sys
import time

from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression


def main() -> None:
    """Trains, scores and answers."""
    asked = json.load(sys.stdin)
    begun = time.process_time()
    vectorizer = HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 6), n_features=1 << 20, alternate_sign=False
    )
    model = LogisticRegression(C=asked["strength"], max_iter=1000)
    model.fit(vectorizer.transform(asked["texts"]), asked["sides"])
    trained = time.process_time()
    scores = {
        name: model.predict_proba(vectorizer.transform(texts))[:, 1].tolist()
        for name, texts in asked["score"].items()
    }
    answer = {"scores": scores, "train_s": trained - begun, "score_s": time.process_time() - trained}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()

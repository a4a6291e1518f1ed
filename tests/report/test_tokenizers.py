"""The page holds every figure, and names that could be markup are text."""

from danlu.report.tokenizers import row_of, write_measure_page
from danlu.tokenizer.measure import Comparison, Figures


def measured(name, tokens, note=""):
    one = Figures(texts=2, bytes=1_500_000, words=300_000, tokens=tokens, unknown=3, returned=1, seconds=0.5)
    groups = {"code": one, "<b>web": one}
    return Comparison(name, 1000, one, groups, {"en": one}, "fastokens", note)


def test_row():
    one = measured("a", 500_000).total
    assert row_of(one) == ("3.00", "1.67", "0.001%", "50.0%", "3.0")
    assert row_of(Figures()) == ("-",) * 5


def test_page(tmp_path):
    path = tmp_path / "tokenizers.html"
    write_measure_page(path, [measured("mine", 500_000), measured("t5", 400_000, "no end-of-text token")])
    text = path.read_text(encoding="utf-8")
    for part in (
        "mine, 1,000",
        "t5",
        "3.75",
        "encoded by",
        "fastokens",
        "By domain",
        "By language",
        "&lt;b&gt;web",
        "Not to train with",
    ):
        assert part in text
    assert "<b>web" not in text
    assert "<script" not in text
    # Two in all and one for each of the two domains; a single language needs none of its own.
    assert text.count("<svg") == 4

"""Written ARPA files: their layout, and numbers to seven decimals."""

import numpy as np
import pytest

from danlu.lm.arpa_write import write_arpa
from danlu.lm.kneser_ney import Gram
from small_models import read_slowly


@pytest.mark.parametrize("value", [1.0, 0.5, 1e-3, 0.1234567, 1e-30, 0.0, 12.5, 0.9999999999])
def test_numbers_are_written_to_seven_decimals(tmp_path, value):
    gram = Gram(np.zeros((1, 1), np.uint32), np.float32([min(value, 1)]), np.float32([value]))
    upper = Gram(np.zeros((1, 2), np.uint32), np.float32([1]), np.float32([1]))
    write_arpa(tmp_path / "m", ["字x"], [1, 1], [[gram], [upper]])
    text = (tmp_path / "m").read_text(encoding="utf-8")
    with np.errstate(divide="ignore"):
        expected = max(float(np.log10(np.float32(value))), -99)
    probability, backoff = read_slowly(text)[("字x",)]
    assert backoff == pytest.approx(expected, abs=1e-7)
    assert probability == pytest.approx(min(expected, 0), abs=1e-7)
    assert text.startswith("\\data\\\nngram 1=1\nngram 2=1\n\n\\1-grams:\n")
    assert text.endswith("\n\\2-grams:\n0\t字x 字x\n\n\\end\\\n")

"""The key that equal texts share."""

from hypothesis import given
from hypothesis import strategies as st

from danlu.dedup.exact import exact_key
from danlu.dedup.settings import Exact

AS_IT_IS = Exact(ignore_white_space=False)


def test_white_space_runs_count_as_one_space():
    assert exact_key("a  b\n\tc ", Exact()) == exact_key("a b c", Exact())
    assert exact_key("a b", Exact()) != exact_key("ab", Exact())
    assert exact_key("a  b", AS_IT_IS) != exact_key("a b", AS_IT_IS)


@given(st.text(), st.text())
def test_different_texts_have_different_keys(one, other):
    assert (exact_key(one, AS_IT_IS) == exact_key(other, AS_IT_IS)) == (one == other)
    assert len(exact_key(one, AS_IT_IS)) == 32

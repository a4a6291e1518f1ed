"""The table of perplexity: published shares, and what has no meaning."""

import pytest
from pydantic import ValidationError

from danlu.lm.settings import BUCKETS, Perplexity


def test_defaults_are_the_published_ones():
    settings = Perplexity(models={"en": "en.arpa"})
    assert (settings.head_share, settings.middle_share) == (0.3, 0.6)
    assert tuple(settings.keep) == BUCKETS
    assert Perplexity.PATHS == ("models",)
    assert Perplexity(models={"en": "m"}, domains=["web"]).concerns("sw", "web")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"models": {}}, "models"),
        ({"models": {"english": "m"}}, "no language has the code 'english'"),
        ({"models": {"en": "m"}, "head_share": 0.6}, "head_share must be below"),
        ({"models": {"en": "m"}, "cutoffs": {"en": [300.0]}}, "two perplexities"),
        ({"models": {"en": "m"}, "cutoffs": {"en": [300.0, 200.0]}}, "two perplexities"),
        ({"models": {"en": "m"}, "cutoffs": {"de": [200.0, 300.0]}}, "no effect"),
        ({"models": {"en": "m"}, "keep": []}, "keep"),
        ({"models": {"en": "m"}, "keep": ["best"]}, "head"),
        ({"models": {"en": "m"}, "max_perplexity": 0.5}, "max_perplexity"),
    ],
)
def test_what_has_no_meaning_is_refused(keys, said):
    with pytest.raises(ValidationError, match=said):
        Perplexity(**keys)


def test_cutoffs_for_all_languages():
    assert Perplexity(models={"en": "m"}, cutoffs={"*": [200.0, 300.0]}).cutoffs["*"] == [200.0, 300.0]

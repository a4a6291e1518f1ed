"""What [tokens] refuses."""

import pytest
from pydantic import ValidationError

from danlu.tokens.settings import TokensSettings


@pytest.mark.parametrize(
    ("model", "keys", "said"),
    [
        (TokensSettings, {"packing": "first_fit"}, "best_fit.*greedy"),
        (TokensSettings, {"document_mask": False}, "reset_positions"),
    ],
)
def test_refuses(model, keys, said):
    with pytest.raises(ValidationError, match=said):
        model(**keys)

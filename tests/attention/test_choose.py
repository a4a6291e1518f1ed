from __future__ import annotations

from danlu.attention import reference, sdpa
from danlu.attention.choose import resolve_attend


def test_kinds() -> None:
    assert resolve_attend("auto") is sdpa.attend
    assert resolve_attend("sdpa") is sdpa.attend
    assert resolve_attend("reference") is reference.attend

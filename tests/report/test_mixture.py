"""The page holds every figure that it was given, and domains that could be markup are text."""

import pytest

from danlu.report.mixture import page_sections, write_mixture_page


def row(stage, domain, share, **changed):
    first = (stage - 1) * 4_000_000
    tokens = round(share * 4_000_000)
    given = {
        "stage": stage,
        "first_token": first,
        "until_token": first + 4_000_000,
        "domain": domain,
        "share": share,
        "tokens": tokens,
        "samples": tokens // 1000,
        "epochs": tokens / 2_000_000,
        "total_epochs": tokens / 2_000_000,
        "unique_tokens": 2_000_000,
        "documents": 1234,
        "repeat_value": 0.5,
    }
    return given | changed


ROWS = [
    row(2, "<b>web", 0.4, total_epochs=1.7, repeat_value=1.69),
    row(1, "<b>web", 0.45),
    row(1, "code", 0.55, total_epochs=1.1, repeat_value=1.097),
    row(2, "prose", 0.6),
]


def test_page(tmp_path):
    path = tmp_path / "mixture.html"
    write_mixture_page(path, sorted(ROWS, key=lambda one: one["stage"]))
    text = path.read_text(encoding="utf-8")
    for part in (
        "8M tokens, 3 domains, 2 stages",
        "&lt;b&gt;web",
        "1.70, worth 1.69",
        "1.10, worth 1.10",
        "45.00%",
    ):
        assert part in text
    assert "<b>web" not in text
    assert "<script" not in text
    assert text.count("<svg") == 2


def test_a_domain_that_a_stage_does_not_read_may_be_missing():
    picture = page_sections(ROWS)[0].body
    assert "code: 55.0%, 0.0%" in picture
    assert "prose: 0.0%, 60.0%" in picture
    assert "by stage" in picture


def test_figures_are_by_stage_then_by_what_a_domain_gives():
    figures = page_sections(ROWS)[1].body
    places = [figures.index(cell) for cell in ("45.00%", "55.00%", "60.00%", "40.00%")]
    assert places == [min(places), *places[1:]]
    assert places[1] < places[3] < places[2]


@pytest.mark.parametrize("domains", [1, 2])
def test_one_stage_is_not_called_so(tmp_path, domains):
    path = tmp_path / "mixture.html"
    write_mixture_page(path, [row(1, f"d{number}", 1 / domains) for number in range(domains)])
    text = path.read_text(encoding="utf-8")
    assert "stages" not in text
    assert "by stage" not in text
    assert f"{domains} domain{'s' if domains == 2 else ''}<" in text

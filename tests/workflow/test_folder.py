"""A folder of text as it is: its domains, its recipe, and what cannot be used."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from danlu.errors import InputError, MismatchError, UsageError
from danlu.recipe import load
from danlu.workflow.folder import find_domains, recipe_of_folder, resolve_folder

TEXT = "A paragraph of words that mean little.\n\nAnother one, which means no more than the first.\n"


def write(folder: Path, *names: str, text: str = TEXT) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def parsed(folder: Path, tmp_path: Path):
    (tmp_path / "made.toml").write_text(recipe_of_folder(folder, "made"))
    return load(tmp_path / "made.toml")


def test_subfolders_are_domains_and_files_at_the_top_are_one_too(tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", "top.md", "code/a.txt", "prose/deep/b.md", "prose/c.txt")
    domains = {domain.name: domain for domain in find_domains(folder)}
    assert set(domains) == {"notes", "code", "prose"}
    assert domains["prose"].files == ("prose/c.txt", "prose/deep/b.md")
    assert domains["prose"].suffixes == (".md", ".txt")


def test_the_top_gets_another_name_where_a_subfolder_has_its(tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", "top.md", "notes/a.txt")
    assert {domain.name for domain in find_domains(folder)} == {"main", "notes"}


def test_the_recipe_is_valid_and_gives_a_reason_for_each_size(tmp_path: Path) -> None:
    folder = write(tmp_path / "my notes [1]", "a.md", "web/b.jsonl.zst", "web/c.jsonl")
    recipe = parsed(folder, tmp_path)
    assert {source.domain for source in recipe.corpus.source} == {"my-notes-1", "web"}
    for line in recipe_of_folder(folder, "made").splitlines():
        if "=" in line and not line.startswith(("#", "name", "paths")):
            assert "  # " in line, line


def test_the_globs_find_exactly_the_files(tmp_path: Path) -> None:
    from danlu.read.find import find_files

    folder = write(
        tmp_path / "my notes [1]", "a.md", "b.txt", "b.rst", "sub/c.md", "sub/x/d.md", ".hidden.md"
    )
    found = {
        source.domain: [file.name for file in find_files(source, folder)]
        for source in parsed(folder, tmp_path).corpus.source
    }
    assert found == {"my-notes-1": ["a.md", "b.txt"], "sub": ["sub/c.md", "sub/x/d.md"]}


def test_every_format_that_a_name_says_is_read_and_pages_are_a_source_of_their_own(tmp_path: Path) -> None:
    from danlu.corpus.split import VALIDATION, split_of, split_point
    from danlu.read.find import find_files

    pages = [f"web/{i}.{kind}" for i in range(20) for kind in ("html", "HTM")]
    folder = write(tmp_path / "mixed", *pages, "web/note.txt", "old/a.txt.bz2", "crawl/b.warc.gz")
    recipe = parsed(folder, tmp_path)
    found = [
        (source.domain, {file.name for file in find_files(source, folder)}) for source in recipe.corpus.source
    ]
    assert found == [
        ("crawl", {"crawl/b.warc.gz"}),
        ("old", {"old/a.txt.bz2"}),
        ("web", {"web/note.txt"}),
        ("web", set(pages)),
    ]
    only_pages = parsed(write(tmp_path / "pages", *pages), tmp_path)
    share = only_pages.corpus.validation_share
    assert any(split_of(split_point(name), share) == VALIDATION for name in pages)


def test_a_page_counts_as_less_text_than_its_bytes(tmp_path: Path) -> None:
    plain = find_domains(write(tmp_path / "plain", "a.txt"))[0]
    page = find_domains(write(tmp_path / "page", "a.html"))[0]
    assert page.text_bytes < plain.text_bytes


def test_few_files_are_split_by_paragraph_and_many_by_file(tmp_path: Path) -> None:
    few = find_domains(write(tmp_path / "few", "a.txt"))[0]
    many = find_domains(write(tmp_path / "many", *(f"{i}.md" for i in range(25))))[0]
    assert (few.document, many.document) == ("blank_line", "file")


def test_the_validation_share_reaches_a_file_of_every_domain(tmp_path: Path) -> None:
    from danlu.corpus.split import VALIDATION, split_of, split_point

    folder = write(tmp_path / "many", *(f"a/{i}.md" for i in range(25)), *(f"b/{i}.md" for i in range(30)))
    share = parsed(folder, tmp_path).corpus.validation_share
    for domain in find_domains(folder):
        sides = [split_of(split_point(name), share) for name in domain.files]
        assert 1 <= sides.count(VALIDATION) < len(sides) / 2


def test_an_empty_folder_and_one_without_text_are_refused_with_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no file at all"):
        find_domains(tmp_path / "empty")
    folder = write(tmp_path / "other", "a.png", "b.png", "c.rst", "Makefile")
    with pytest.raises(InputError, match=r"it has: 2 \.png, 1 \.rst, 1 without extension"):
        find_domains(folder)
    with pytest.raises(InputError, match="all empty"):
        find_domains(write(tmp_path / "blank", "a.txt", text=""))


def test_what_is_not_read_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    find_domains(write(tmp_path / "mixed", "a.md", "b.png"))
    assert "not read" in capsys.readouterr().err


def test_the_recipe_is_written_once_and_reused_as_edited(tmp_path: Path) -> None:
    folder, runs = write(tmp_path / "notes", "a.md"), tmp_path / "runs"
    run = resolve_folder(str(folder), runs=runs)
    assert (run.directory, run.base) == (runs / "notes", folder)
    path = runs / "notes" / "folder.toml"
    path.write_text(path.read_text().replace("minutes = 10", "minutes = 3"))
    assert resolve_folder(str(folder), runs=runs).recipe.train.minutes == 3
    assert resolve_folder(str(folder), ["name=second"], runs=runs).directory == runs / "second"


def test_a_dry_look_writes_nothing(tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", "a.md")
    resolve_folder(str(folder), ["train.minutes=2"], runs=tmp_path / "runs", write=False)
    assert not (tmp_path / "runs").exists()


def test_another_folder_of_the_same_name_is_refused(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    resolve_folder(str(write(tmp_path / "x" / "notes", "a.md")), runs=runs)
    with pytest.raises(MismatchError, match="another folder"):
        resolve_folder(str(write(tmp_path / "y" / "notes", "a.md")), runs=runs)


def test_a_new_subfolder_is_not_ignored_in_silence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, runs = write(tmp_path / "notes", "a.md"), tmp_path / "runs"
    resolve_folder(str(folder), runs=runs)
    write(folder, "new/b.md")
    resolve_folder(str(folder), runs=runs)
    assert "does not read 1 file(s) (*.md) of new" in capsys.readouterr().err


def test_two_subfolders_with_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="rename one"):
        find_domains(write(tmp_path / "notes", "a b/x.md", "a-b/x.md"))


def build(folder: Path, tmp_path: Path):
    """The corpus of the recipe that is made of a folder: its recipe and its funnel."""
    from danlu.corpus.build import build_corpus

    recipe = parsed(folder, tmp_path)
    return recipe, build_corpus(recipe.corpus, folder, tmp_path / f"corpus-{folder.name}")


def records(count: int) -> list[str]:
    return [
        f"Record {i} tells of {i * 7919} things that none of the others knows about." for i in range(count)
    ]


@pytest.mark.parametrize("name", ["train.jsonl", "data.jsonl", "a.jsonl.gz", "b.jsonl.zst", "train.parquet"])
def test_records_are_held_out_one_by_one_whatever_their_file_is_called(tmp_path: Path, name: str) -> None:
    import pyarrow
    import pyarrow.parquet
    import zstandard

    folder, texts = tmp_path / "folder", records(400)
    folder.mkdir()
    lines = "\n".join(json.dumps({"text": text}) for text in texts).encode()
    if name.endswith("parquet"):
        pyarrow.parquet.write_table(pyarrow.table({"text": texts}), folder / name)
    else:
        pack = {".gz": gzip.compress, ".zst": zstandard.compress}.get(Path(name).suffix, bytes)
        (folder / name).write_bytes(pack(lines))
    recipe, funnel = build(folder, tmp_path)
    assert recipe.corpus.validation_share <= 0.05
    assert [source.document for source in recipe.corpus.source] == ["file"]
    assert 1 <= funnel.total_kept("validation").documents < 60


def test_plain_text_and_records_of_one_domain_are_two_sources(tmp_path: Path) -> None:
    folder = write(tmp_path / "mixed", "a.md", "b.txt", text="\n\n".join(records(60)))
    (folder / "c.jsonl").write_text("\n".join(json.dumps({"text": f"Also: {text}"}) for text in records(60)))
    text = recipe_of_folder(folder, "made")
    assert text.count("[[corpus.source]]") == 2
    assert text.count("document =") == 1
    recipe, funnel = build(folder, tmp_path)
    assert {source.domain for source in recipe.corpus.source} == {"mixed"}
    assert recipe.corpus.validation_share <= 0.05
    assert funnel.total_kept().documents == 120


def test_files_that_would_hold_out_too_much_are_split_by_paragraph(tmp_path: Path) -> None:
    from danlu.corpus.split import split_point

    names = [name for i in range(500) if split_point(name := f"{i}.md") > 0.25][:25]
    folder = write(tmp_path / "unlucky", *names)
    assert find_domains(folder)[0].document == "blank_line"
    assert parsed(folder, tmp_path).corpus.validation_share <= 0.05


def a_run_in(directory: Path) -> Path:
    return write(directory, "run.json", "recipe.toml", "export/README.md", "corpus/train/x/part.parquet")


def test_runs_are_not_read_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from danlu.read.find import find_files

    folder = write(tmp_path / "home", "notes/a.md", "notes/deep/b.md", "runs/half/tokenizer/notes.txt")
    a_run_in(folder / "runs" / "home")
    a_run_in(folder / "notes" / "my run")
    monkeypatch.chdir(folder)
    domains = find_domains(folder)
    assert [(domain.name, domain.files) for domain in domains] == [
        ("notes", ("notes/a.md", "notes/deep/b.md"))
    ]
    recipe = parsed(folder, tmp_path)
    found = [file.name for source in recipe.corpus.source for file in find_files(source, folder)]
    assert found == ["notes/a.md", "notes/deep/b.md"]


def test_a_new_kind_of_file_in_a_known_domain_is_not_ignored_in_silence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, runs = write(tmp_path / "notes", "sub/a.md", "top.md"), tmp_path / "runs"
    resolve_folder(str(folder), runs=runs)
    write(folder, "sub/deep/b.md")
    resolve_folder(str(folder), runs=runs)
    assert "does not read" not in capsys.readouterr().err
    write(folder, "sub/c.txt")
    resolve_folder(str(folder), runs=runs)
    assert "does not read 1 file(s) (*.txt) of sub" in capsys.readouterr().err


def test_the_recipe_has_a_prompt_of_the_text_itself(tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", "a.md", text='# "Once\x1b[31m upon\x7f" a time\n\nAnd more.\n')
    assert parsed(folder, tmp_path).monitor.samples == ["# a time And"]
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "a.jsonl").write_text('{"text": "x"}')
    assert parsed(tmp_path / "records", tmp_path).monitor.samples == ["The"]


def test_an_empty_name_is_no_folder():
    with pytest.raises(UsageError, match="is empty"):
        resolve_folder(" ")

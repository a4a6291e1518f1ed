"""Papers of several files: the main one, what it reads, encodings, and what was damaged."""

import pytest

from danlu.extract.section import Section, join_sections
from danlu.latex import project
from danlu.latex.project import extract, find_main

HEAD = "\\documentclass{article}\n\\begin{document}\n"
TAIL = "\n\\end{document}\n"


def paper(body):
    return f"{HEAD}{body}{TAIL}"


def encoded(files):
    return {name: text.encode() for name, text in files.items()}


def test_a_paper_of_several_files():
    files = {
        "paper/main.tex": "\\documentclass{article}\\usepackage{mine}\\input{pre}\\begin{document}\\input{sec/a}"
        "\\include{sec/b.tex}\\input{nowhere}\\bibliography{x}\\input{main.bbl}\\end{document}",
        "paper/pre.tex": "\\newcommand{\\R}{\\mathbb{R}}\\title{T}",
        "paper/mine.sty": "\\newcommand{\\N}{\\mathbb{N}}",
        "paper/sec/a.tex": "\\section{A}$\\R\\N$",
        "paper/sec/b.tex": "\\documentclass[../main]{subfiles}\\begin{document}\\section{B}b\\end{document}",
        "paper/main.bbl": "\\begin{thebibliography}{1}\\bibitem{a} A\\end{thebibliography}",
    }
    found = extract(encoded(files))
    assert found.sections == (Section(("A",), "$\\mathbb{R}\\mathbb{N}$"), Section(("B",), "b"))
    assert found.metadata == {"title": "T"}
    assert found.damages == (("missing_file", "nowhere"),)


@pytest.mark.parametrize(
    ("files", "main", "others"),
    [
        ({"x.tex": paper("a")}, "x.tex", []),
        ({"x.tex": paper("a" * 99), "ms.tex": paper("a")}, "ms.tex", ["x.tex"]),
        ({"x.tex": paper("a" * 99), "y.tex": paper("a")}, "x.tex", ["y.tex"]),
        ({"x.tex": paper("\\input{y.1}"), "y.1.tex": paper("a" * 99)}, "x.tex", []),
        ({"x.tex": paper("\\input{y}"), "y.tex": "a" * 200, "z.tex": paper("a" * 99)}, "x.tex", ["z.tex"]),
        (
            {"00README.XXX": "y.tex toplevelfile", "x.tex": paper("aa"), "y.tex": paper("a")},
            "y.tex",
            ["x.tex"],
        ),
        ({"x.tex": "% \\documentclass{a}\n\\foo", "y.tex": paper("a")}, "y.tex", []),
        ({"plain.tex": "\\input amstex a"}, "plain.tex", []),
    ],
)
def test_the_main_file(files, main, others):
    assert find_main(files) == (main, others)


@pytest.mark.parametrize("files", [{}, {"a.txt": b"\\x"}, {"a.tex": b"no source"}])
def test_what_is_no_paper_is_refused(files):
    with pytest.raises(ValueError, match="no file of it is a LaTeX source"):
        extract(files)


@pytest.mark.parametrize(
    ("head", "codec", "damages"),
    [
        ("", "utf-8", ()),
        ("", "utf-8-sig", ()),
        ("\\usepackage[latin1]{inputenc}", "latin-1", ()),
        ("", "cp1252", (("guessed_encoding", "a.tex: cp1252"),)),
    ],
)
def test_encodings(head, codec, damages):
    text = "Les élèves étaient à l'école, où ça va très bien."
    found = extract({"a.tex": (head + paper(text)).encode(codec)})
    assert found.sections[0].text == text.replace("'", "’")
    assert found.damages == damages


def test_chinese_in_gb18030_is_guessed():
    text = "我们的方法是在这个数据上训练一个模型，他们说这是最好的，我不知道为什么。"
    found = extract({"a.tex": paper(text).encode("gb18030")})
    assert found.sections[0].text == text
    assert found.damages == (("guessed_encoding", "a.tex: gb18030"),)


def test_damages_name_what_was_unknown_or_too_much():
    source = "\\def\\r{x\\r}" + HEAD + "\\zzz{a} \\yyy \\r $x\n\n" + "b" + TAIL
    found = extract({"a.tex": source.encode()})
    reasons = dict(found.damages)
    assert "zzz 1" in reasons["unknown_macro"]
    assert reasons["macro_limit"].startswith("r ")
    assert reasons["unclosed_formula"] == "1"
    assert join_sections(found.sections).endswith("b")


def test_crlf_and_lone_signs():
    source = paper("a % c\r\nb\r\n\r\n\\ { } \\").replace("\n\n", "\r\n")
    assert join_sections(extract({"a.tex": source.encode()}).sections).startswith("a b")


def test_a_file_is_scanned_once_however_often_it_is_read(monkeypatch):
    scanned = []
    real = project.scan
    monkeypatch.setattr(
        project, "scan", lambda text, *rest, **more: scanned.append(text) or real(text, *rest, **more)
    )
    found = extract(encoded({"main.tex": paper("\\input{a} " * 9), "a.tex": "x"}))
    assert found.sections[0].text == " ".join("x" * 9)
    assert len(scanned) == 2


def test_what_cannot_be_decoded_is_counted():
    found = extract({"a.tex": paper("größer über Öl #").encode().replace(b"#", b"\xff")})
    assert (found.replaced, found.damages) == (1, ())

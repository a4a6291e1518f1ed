"""A thread to sections."""

import pytest

from danlu.dumps.threads import extract, pack
from danlu.extract.section import Section


def test_a_thread_is_its_title_question_and_answers():
    found = extract(pack("Why  \n salt?", "<p>I ask.</p>", ["<p>One.</p>", "", "<pre>  three</pre>"]))
    assert found.sections == (
        Section(("Why salt?",), "I ask."),
        Section(("Why salt?", "Answer 1"), "One."),
        Section(("Why salt?", "Answer 3"), "  three"),
    )
    assert found.damages == ()


def test_what_has_no_title_or_no_text():
    assert extract(pack("", "a", ["b"])).sections == (Section((), "a"), Section(("Answer 1",), "b"))
    assert extract(pack("t", " ", ["<p></p>"])).sections == ()
    assert extract(pack("t", "x\ud800", [])).sections == (Section(("t",), "x?"),)


@pytest.mark.parametrize("data", [b"", b"[", b"\xff\xfe"])
def test_what_is_no_thread_is_refused(data):
    with pytest.raises(ValueError, match=r".+"):
        extract(data)

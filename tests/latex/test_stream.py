"""Arguments are taken off as TeX takes them, what is not found stays, and the budget is spent by what is pushed."""

from danlu.latex.scan import join_source, scan
from danlu.latex.stream import Stream


def stream(text, budget=1000):
    made = Stream(budget + 2 * len(text))
    made.put_back(scan(text))
    made.budget = budget
    return made


def rest(made):
    tokens = []
    while token := made.next():
        tokens.append(token)
    return join_source(tokens)


def test_arguments_are_groups_or_single_tokens():
    made = stream(" {a{b}} xy\\foo}")
    assert [join_source(made.argument()) for _ in range(5)] == ["a{b}", "x", "y", "\\foo", ""]
    assert rest(made) == "}"


def test_a_group_that_never_closes_ends_with_the_text():
    assert join_source(stream("{a b").argument()) == "a b"


def test_optional_arguments():
    made = stream(" [a{]}[b]] [c")
    assert join_source(made.bracket()) == "a{]}[b"
    assert made.bracket() is None
    assert rest(made) == "] [c"


def test_what_runs_up_to_an_ending():
    made = stream("ab.c{.}d.e}f.")
    dot = scan(".")
    assert join_source(made.until(dot)) == "ab"
    assert join_source(made.until(dot)) == "c{.}d"
    assert made.until(dot) is None
    assert rest(made) == "e}f."


def test_the_budget_refuses_what_is_too_long_and_counts_depth():
    made = stream("end", budget=18)
    assert made.push(scan("ab"), "x")
    assert made.depth("x") == 1
    assert not made.push(scan("abcdefghi"), "y")
    assert rest(made) == "abend"
    assert made.depth("x") == 0


def test_nothing_is_searched_for_once_the_budget_is_spent():
    made = stream("[a]", budget=0)
    assert made.bracket() is None
    assert rest(made) == "[a]"

"""The values that a reader yields."""

from danlu.formats.raw import Damage, Piece, Raw


def test_a_raw_text_has_no_group_or_id_unless_it_is_given():
    raw = Raw("text", "a.txt", 0, 4)
    assert (raw.group, raw.id, raw.replaced) == (None, None, 0)


def test_a_damage_compares_by_value():
    assert Damage("malformed_json", "a.jsonl", 3) == Damage("malformed_json", "a.jsonl", 3, "")


def test_a_damage_says_where_and_what():
    assert Damage("too_long", "a.txt").describe() == "a.txt: too_long"
    assert Damage("missing_text", "a.jsonl", 3, "no text").describe() == "a.jsonl, line 3: no text"


def test_a_piece_is_whole_unless_it_ends():
    assert Piece("a", "a", 0, None, 9).revision == ""

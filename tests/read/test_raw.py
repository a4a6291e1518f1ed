"""The values that a reader yields."""

from danlu.read.raw import Damage, Raw


def test_a_raw_text_has_no_group_or_id_unless_it_is_given():
    raw = Raw("text", "a.txt", 0, 4)
    assert (raw.group, raw.id, raw.replaced) == (None, None, 0)


def test_a_damage_compares_by_value():
    assert Damage("malformed_json", "a.jsonl", 3) == Damage("malformed_json", "a.jsonl", 3, "")

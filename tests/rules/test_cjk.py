"""Rules for scripts without spaces: repeated runs against counting them, each reason, what is left alone."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.rules import cjk
from danlu.rules.settings import Cjk
from danlu.words.text import Text, encode

SENTENCES = [
    "春天来了，山坡上的桃花一夜之间全都开了。",
    "孩子们放学以后沿着河边的小路慢慢走回家去！",
    "老人坐在门口，给路过的客人讲从前的故事。",
    "城里的书店今年换了新主人，书架也重新漆过。",
    "他把信写了三遍，最后还是没有寄出去吗？",
    "火车经过大桥的时候，窗外的灯光像星星一样。",
    "冬天的早晨，厨房里飘着米粥和咸菜的香味。",
    "她学会的第一支曲子，是外婆年轻时常唱的。",
    "研究人员用了十年时间记录这片湿地的候鸟。",
    "会议结束之后，大家一起到楼下喝了杯热茶。",
]
PROSE = "\n".join(SENTENCES)


def outcome(text, language="", **settings):
    rules = Cjk(**settings)
    return cjk.decide(cjk.measure(Text(text, language), rules).values, rules)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PROSE, ""),
        (PROSE[:150], "short"),
        (PROSE.replace("，", "，\n\n\n"), "short_lines"),
        (PROSE + "abc def. " * 60, "few_script"),
        (SENTENCES[0] * 11, "repeated"),
        (PROSE.replace("。", "★☆【】→" * 4), "punctuation"),
        (
            "".join(character for character in PROSE if character not in "，。！？\n") + "字词典" * 9,
            "no_sentences",
        ),
    ],
)
def test_reasons(text, reason):
    assert outcome(text) == reason


@pytest.mark.parametrize(
    "text", ["", "An English page with one word 中文 in it. " * 10, "1 2 3", "한국어 문장입니다. " * 30]
)
def test_other_scripts_are_not_judged(text):
    assert all(math.isnan(value) for value in cjk.measure(Text(text, "en"), Cjk()).values)
    assert outcome(text) == ""


def test_a_declared_language_is_judged_whatever_its_letters():
    assert outcome("garbage " * 50, "zh") == "few_script"
    assert outcome("", "zh") == "short"


def test_japanese_and_thai():
    assert outcome("これは長い文章の例です。毎日少しずつ書いています。" + PROSE) == ""
    assert not math.isnan(cjk.measure(Text("ภาษาไทยไม่มีช่องว่าง"), Cjk()).values[0])


def repeated_slowly(text):
    runs = [text[start : start + 13] for start in range(len(text) - 12)]
    counts = Counter(runs)
    return sum(counts[run] for run in runs if counts[run] > 1) / len(runs) if len(runs) > 1 else 0.0


@given(st.text(alphabet="中文字", max_size=80) | st.text(alphabet="中\0\U0010ffff", max_size=60))
def test_repeated_runs_are_counted(text):
    assert cjk.repeated_share(encode(text)) == pytest.approx(repeated_slowly(text))


def test_a_character_two_hundred_thousand_times():
    assert outcome("好" * 200_000) == "repeated"

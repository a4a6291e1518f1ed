"""Small real texts for the recipes in examples/: a crawl of web pages, and a folder each of Chinese and English."""

from __future__ import annotations

import gzip
import html
import json
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from chinese_texts import CHINESE
from danlu.formats.python_text import DOCS, read_python
from danlu.formats.raw import Raw
from web_archive import response

SITE = "https://example.org/"
REAL_PAGES = 40
"""Texts of Python's documentation that stand beside the pages of which each shows one thing."""
_REAL_CHARACTERS = range(1000, 8000)

SALT = """Salt is a mineral that people have gathered from the sea and from mines for thousands of years. It keeps meat
and fish from spoiling, because few of the small creatures that spoil food can live where there is much of it.

In many countries the trade with salt belonged to the king, and the tax on it was hated. Roads were named after the
carts that brought it from the coast to the towns of the mountains. Where such a road crossed a river, a town with a
market and a toll often grew up.

Today most of the salt that is dug out of the earth is not eaten at all. It melts the ice on winter roads, and the
chemical industry makes soap, glass and paper with the help of what is won from it."""

TIDES = """The water of the sea rises and falls twice a day on most coasts of the world. The moon pulls at the side of
the earth that faces it more than at the middle, and at the middle more than at the far side, so that the water is
drawn out into two low hills.

As the earth turns, each harbour passes through both hills, and fishermen have always had to know when. The sun pulls as
well, though less than half as much. When both stand in one line the tide is high, and when they stand at a right angle
it is low.

In a narrow bay the wave that comes in from the ocean is pressed together, and the water may rise by more than ten
metres. Some of those bays have mills that were driven by the tide long before there was electric light."""

BEES = """A colony of bees lives through the winter as a ball of some ten thousand animals that keep each other warm.
They shiver with the muscles that move their wings, and those on the outside change places with those within.

When the first willows flower, the queen begins to lay eggs again, and the young workers clean the cells and feed the
brood. Only in the last weeks of her life does a worker fly out to look for nectar. If she finds a good field, she tells
the others by a dance in which the angle to the vertical is the angle to the sun.

A keeper who takes the honey has to give sugar in return, or the colony would starve before the spring comes back."""

WINDMILL = """The windmill on the hill was built by four brothers in the year of the great storm. Its cap turns with the
wind on a ring of oak, and a long beam at the back allowed two people to move it by hand.

Grain was lifted by a chain to the top floor, and from there it ran down to the stones by its own weight. The miller
could hear from the sound of the stones whether they stood too close, and he would wake at night when it changed.

When the railway came to the valley, flour from the large mills by the river was cheaper than his. The sails were taken
down, and for a while the tower served as a store for potatoes. Now the village has repaired it, and on Sundays in the
summer it turns again."""

GERMAN = """Das Wasser des Meeres steigt und fällt an den meisten Küsten der Welt zweimal am Tag. Der Mond zieht an der
Seite der Erde, die ihm zugewandt ist, stärker als an ihrer Mitte, und an der Mitte stärker als an der anderen Seite.
Deshalb mussten die Fischer in jedem Hafen schon immer wissen, wann sie auslaufen konnten."""

SHOP = """Copper kettle with a wooden handle, for those who have an open fire at home

Oil lamp that burns for a whole night and is safe to be left alone

Oak table, polished by hand, to be ordered in any size that you have room for

Woollen blanket from the mountains, warm enough for a night in the snow

Mirror in a silver frame, which is sent to all of the towns of the coast

Basket of willow, woven by two sisters and sold with a cloth that fits"""

PAGES = {
    "salt": SALT,
    "salt-mirror": SALT,
    "tides": TIDES,
    "tides-edited": TIDES.replace("fishermen", "sailors"),
    "bees": BEES,
    "porn/windmill": WINDMILL,
    "gezeiten": GERMAN,
    "again": WINDMILL.replace(
        "The windmill", "On the hill stands a mill with four sails. " * 20 + "The windmill", 1
    ),
    "short": "This page has a sentence or two, and that is all of it. There is nothing else to be read here.",
    "draft": f"{WINDMILL}\n\nLorem ipsum dolor sit amet, consectetur adipiscing elit, and so on to the end.",
    "shop": SHOP,
}
"""By address below SITE. Of two equal pages the first stays."""

PAGE_REASONS = {
    "salt": "",
    "salt-mirror": "exact.duplicate",
    "tides": "",
    "tides-edited": "minhash.duplicate",
    "bees": "",
    "porn/windmill": "url.hard_word",
    "gezeiten": "language.other_language",
    "again": "gopher_repetition.top_4_gram",
    "short": "gopher_quality.short_doc",
    "draft": "c4.lorem_ipsum",
    "shop": "fineweb.line_punct_ratio",
}
"""Why each goes in the recipe english-web."""

CHINESE_REASONS = {
    "short": "cjk.short",
    "spam": "cjk.repeated",
    "words": "cjk.no_sentences",
    "copy": "exact.duplicate",
    "edited": "minhash.duplicate",
    "japanese": "language.other_language",
}
"""Why each odd record goes in the recipe chinese-and-english; all others stay."""


def write_crawl(folder: Path) -> None:
    """crawl/pages.warc.gz: the pages above, then texts of Python's documentation."""
    pages = [(f"{SITE}{name}", text) for name, text in PAGES.items()]
    pages += [(f"{SITE}{raw.source}", raw.text) for raw in _real_texts()]
    records = [response(_page(text), url=url, number=number) for number, (url, text) in enumerate(pages)]
    (folder / "crawl").mkdir(parents=True)
    (folder / "crawl" / "pages.warc.gz").write_bytes(b"".join(map(gzip.compress, records)))


def write_two_languages(folder: Path) -> None:
    """chinese/pages.jsonl and english/*.txt."""
    rows = [{"id": f"page-{number}", **page} for number, page in enumerate(CHINESE)]
    first = CHINESE[0]
    rows += [
        {
            "id": "short",
            "title": "通知",
            "text": "今天下午三点在二楼会议室开会，请大家准时参加，不要迟到，谢谢。",
        },
        {"id": "spam", "title": "优惠", "text": "本店所有商品今天全部半价出售欢迎选购。" * 12},
        {
            "id": "words",
            "title": "关键词",
            "text": "手机 电脑 相机 耳机 键盘 鼠标 音箱 屏幕 打印 扫描 " + _letters(),
        },
        {"id": "copy", **first},
        {"id": "edited", **first, "text": first["text"].replace("。", "！", 1).replace("茶叶", "茶", 1)},
        {"id": "japanese", "title": "潮の満ち引き", "text": _JAPANESE},
    ]
    (folder / "chinese").mkdir(parents=True)
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (folder / "chinese" / "pages.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "english").mkdir()
    for name, text in {"salt": SALT, "tides": TIDES, "bees": BEES, "windmill": WINDMILL}.items():
        (folder / "english" / f"{name}.txt").write_text(text, encoding="utf-8")
    for number, raw in enumerate(_real_texts()):
        (folder / "english" / f"python-{number:02}.txt").write_text(raw.text, encoding="utf-8")


_JAPANESE = (
    "海の水はほとんどの海岸で一日に二回満ちたり引いたりします。月は地球の近い側を強く引き、遠い側を弱く引くので、"
    "水は二つの低い丘のように盛り上がります。地球が回るにつれて、それぞれの港はその両方を通ります。"
    "漁師たちは昔から、いつ船を出せるかを知っていなければなりませんでした。太陽も水を引きますが、その力は月の半分ほどです。"
)


def _letters() -> str:
    """Words that no sentence holds together, all different."""
    text = "".join(page["text"] for page in CHINESE[1:4])
    letters = [letter for letter in text if letter not in "，。、；：？！“”《》\n"]
    return " ".join("".join(letters[start : start + 2]) for start in range(0, 240, 2))


def _page(text: str) -> bytes:
    paragraphs = "".join(f"<p>{html.escape(part)}</p>\n" for part in text.split("\n\n"))
    head = '<html><head><meta charset="utf-8"><title>A page</title></head>'
    return f"{head}<body><main><article>\n{paragraphs}</article></main></body></html>".encode()


def _real_texts() -> Iterator[Raw]:
    found = (raw for raw in read_python(DOCS, 10**6) if isinstance(raw, Raw))
    # Docstrings are prose; the topics before them are half code, which the rules for prose drop.
    sized = (raw for raw in found if "/docstrings/" in raw.source and len(raw.text) in _REAL_CHARACTERS)
    for _, raw in zip(range(REAL_PAGES), sized, strict=False):
        yield raw


def write_scored_texts(folder: Path) -> None:
    """Labelled comments and an encyclopedia, as docs/scoring.md names them."""
    rows = [
        f"{number} is {'a rude thing' if number % 2 else 'good prose'},{number % 2}" for number in range(80)
    ]
    (folder / "comments.csv").write_text("text,toxic\n" + "\n".join(rows))
    (folder / "encyclopedia.txt").write_text("\n\n".join(f"Number {n} is {n} plus zero." for n in range(90)))


def write_every_step(folder: Path) -> None:
    """The texts, lists and small models that the recipe every-step names."""
    from danlu.lm.train import train_lm
    from danlu.scorers.model_file import save_scorer
    from small_scorers import small_scorer
    from small_transformers import save_bert

    write_two_languages(folder)
    (folder / "code").mkdir()
    for package in ("json", "wsgiref"):
        for path in sorted((Path(sysconfig.get_path("stdlib")) / package).glob("*.py")):
            (folder / "code" / f"{package}_{path.name}").write_bytes(path.read_bytes())
    table = ", ".join(f"{n * 2654435761 % 2**32:#x}" for n in range(3000))
    (folder / "code" / "data.py").write_text(f"TABLE = [{table}]\n")
    (folder / "english" / "letter.txt").write_text(f"{BEES}\n\nWrite to mara@bees.example.com or 192.0.2.1.")
    (folder / "lists").mkdir()
    for language, word in (("en", "lorem ipsum"), ("zh", "欢迎选购")):
        (folder / "lists" / f"{language}.txt").write_text(f"{word}\n")
    (folder / "evaluation").mkdir()
    (folder / "evaluation" / "quiz.jsonl").write_text(json.dumps({"question": " ".join(SALT.split()[:20])}))
    train_lm([SALT, TIDES, BEES, WINDMILL], folder / "en.arpa", order=3, held_out_share=0.5)
    chinese = [page["text"] for page in CHINESE]
    train_lm(chinese, folder / "zh.arpa", order=3, tokens="characters", held_out_share=0.5)
    save_scorer(folder / "quality.safetensors", small_scorer())
    save_bert(folder / "education")

"""Keys, tokens and passwords: those of known services by their forms, others by what they are assigned to.

Decides: private keys from BEGIN to END; tokens that begin as a service's do and are as long; else a long mixture of
letters and digits, or a password, that stands behind "key =", "token:", "password is", 密码： and the like. Names of
variables, calls and what documentation writes for a secret (`your-key`, `${KEY}`, xxxx) are none; hashes and commits
without such a word neither. Guarantees: bounded work at each token and each such word. Costs: little in prose.

Source: the services' own descriptions of their tokens' forms.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from math import log2

from danlu.pii.view import Item, View

_END = r"(?![A-Za-z0-9_-])"
_SERVICES = re.compile(
    r"(?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{16}" + _END + r"|gh[pousr]_[A-Za-z0-9]{36,255}" + _END + r"|"
    r"github_pat_[A-Za-z0-9_]{40,255}" + _END + r"|glpat-[A-Za-z0-9_-]{20,64}" + _END + r"|"
    r"xox[abeoprs]-[A-Za-z0-9-]{10,250}" + _END + r"|xapp-\d-[A-Za-z0-9-]{20,250}" + _END + r"|"
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,250}" + _END + r"|whsec_[A-Za-z0-9]{20,100}" + _END + r"|"
    r"AIza[A-Za-z0-9_-]{35}" + _END + r"|GOCSPX-[A-Za-z0-9_-]{28}" + _END + r"|"
    r"npm_[A-Za-z0-9]{36}" + _END + r"|pypi-AgEI[A-Za-z0-9_-]{50,250}|hf_[A-Za-z0-9]{30,40}" + _END + r"|"
    r"dop_v1_[a-f0-9]{64}"
    + _END
    + r"|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"
    + _END
    + r"|LTAI[A-Za-z0-9]{12,24}"
    + _END
    + r"|"
    r"AKID[A-Za-z0-9]{32}" + _END + r"|"
    r"eyJ[A-Za-z0-9_-]{10,4000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,4000}"
)
_MIXED = re.compile(r"sk-(?:proj-|ant-(?:[a-z0-9]{2,8}-)?)?[A-Za-z0-9_-]{20,250}" + _END)
"""Not sure by its form alone: "sk-" begins names of packages too."""
_SENDGRID = re.compile(r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}")
_TELEGRAM = re.compile(r"\d{8,10}:[A-Za-z0-9_-]{35}" + _END)
_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_BEGINNING, _ENDING = "-----BEGIN ", "-----END "
_ENDING_LINE = re.compile(r"-----END [A-Z0-9 ]{0,40}-----")
_LINE = re.compile(r"(?:\s|\\r|\\n){0,4}[A-Za-z0-9+/]{20,128}={0,2}")

_STEMS = ("key", "token", "secret", "passw", "pwd", "credential", "密码", "口令", "密钥", "令牌")
_ASSIGNED = re.compile(
    r"(?P<stem>key|token|secret|passw(?:or)?d|passwd|pwd|passwort|credential|密码|口令|密钥|令牌)"
    r"[a-z0-9_]{0,24}[\"'\]]{0,2} {0,8}(?:=>|:=|={1,2}|:| is:? | was | set to |是|为)[ ]{0,8}(?:bearer )?[\"'`“‘「]?"
)
_VALUE = re.compile(r"[A-Za-z0-9_\-+/=.~!@#$%^&*?|]{6,250}")
_TOKEN = re.compile(
    r"(?!/)[A-Za-z0-9_+/=~-]{1,250}+(?:\.[A-Za-z0-9_+/=~-]{1,250}+){0,3}+(?<=.{16})(?![A-Za-z0-9%@#$*^(])"
)
_RUN = re.compile(r"[A-Za-z0-9_+/=.~-]{1,250}")
_PASSWORDS = frozenset({"passw", "passwd", "password", "passwort", "pwd", "密码", "口令"})
_HOLDER = re.compile(
    r"your|example|placeholder|change.?me|xxx|\*\*\*|\.\.\.|\$\{|\$\(|<|insert|replace|dummy|sample|redacted|none|null|"
    r"true|false|environ|getenv|config|settings|self\.|this\.|process\.|secrets\.|vault|test.?key|0123456789|12345678901",
    re.IGNORECASE,
)
_LEAST_SECRET, _LEAST_BITS, _MOST_PASSWORD = 16, 3.0, 64


def secrets(view: View) -> Iterator[Item]:
    """Keys, tokens and passwords."""
    for start, end in [*_private_keys(view.plain), *_by_service(view), *_by_assignment(view)]:
        yield Item(start, end, "secret")


def _private_keys(text: str) -> Iterator[tuple[int, int]]:
    at, ending = text.find(_BEGINNING), -1
    while at >= 0:
        match, following = _BEGIN.match(text, at), text.find(_BEGINNING, at + 1)
        if match:
            if ending < match.end():
                # Where there is no end now, no later key has one: so that it is looked for once.
                ending = text.find(_ENDING, match.end())
                ending = len(text) if ending < 0 else ending
            line = _ENDING_LINE.match(text, ending) if following < 0 or ending < following else None
            if not line:
                if (stop := _cut_short(text, match.end())) > match.end():
                    yield at, stop
            elif _LINE.search(text, match.end(), ending):
                yield at, line.end()
        at = following


def _cut_short(text: str, start: int) -> int:
    """Where the lines of a key end that has lost its end."""
    while line := _LINE.match(text, start):
        start = line.end()
    return start


def _by_service(view: View) -> Iterator[tuple[int, int]]:
    text = view.plain
    for start, end in view.tokens:
        if match := _SERVICES.match(text, start):
            yield match.span()
        elif text.startswith("sk-", start) and (match := _MIXED.match(text, start)):
            if is_random(match.group()[3:]):
                yield match.span()
        elif text.startswith("SG.", start - 3) and (match := _SENDGRID.match(text, start - 3)):
            yield match.span()
        elif end - start == 35 and text[start - 1 : start] == ":":
            first = start - 1
            while first > max(0, start - 12) and text[first - 1].isdigit():
                first -= 1
            if match := _TELEGRAM.match(text, first):
                yield match.span()


def _by_assignment(view: View) -> Iterator[tuple[int, int]]:
    for stem in _STEMS:
        at = view.lower.find(stem)
        while at >= 0:
            done = at + len(stem)
            if match := _ASSIGNED.match(view.lower, at):
                if span := _judge(view.plain, match["stem"], match.end()):
                    yield span
                # The same word within what is assigned assigns nothing: so no text is judged twice.
                done = max(done, _run_end(view.plain, match.end()))
            at = view.lower.find(stem, done)


def _run_end(text: str, start: int) -> int:
    run = _RUN.match(text, start)
    return run.end() if run else start


def _judge(text: str, stem: str, start: int) -> tuple[int, int] | None:
    """The secret in what is assigned from `start` on, where it is one."""
    if (token := _TOKEN.match(text, start)) and is_random(token.group()):
        end, word = token.end(), token.group()
    elif stem in _PASSWORDS and (value := _VALUE.match(text, start)):
        quoted = text[value.end() : value.end() + 1] in tuple("\"'`”’」")
        word = value.group() if quoted else value.group().rstrip(".!?&")
        end = start + len(word)
        if not _is_password(word):
            return None
    else:
        return None
    return None if _HOLDER.search(word) or text[end : end + 1] in ("(", "[", "<") else (start, end)


def is_random(word: str) -> bool:
    """Whether letters and digits are mixed as no name is: 16 or more, and 3 bits a character or more.

    Shannon's entropy of the word's own characters; a word of few digits must change between cases within its parts.
    """
    counts = Counter(word)
    bits = -sum(count / len(word) * log2(count / len(word)) for count in counts.values())
    digits = sum(character.isdigit() for character in word)
    upper, small = any(map(str.isupper, word)), any(map(str.islower, word))
    if len(word) < _LEAST_SECRET or bits < _LEAST_BITS or not digits or not (upper or small):
        return False
    return (upper and small and digits >= 2) or digits >= max(3, len(word) // 6)


def _is_password(word: str) -> bool:
    """Whether it has letters and digits, or a sign, and is no name of a variable, a path or a version."""
    if len(word) > _MOST_PASSWORD:
        return False
    letters, digits = any(map(str.isalpha, word)), any(map(str.isdigit, word))
    signs = sum(not character.isalnum() and character not in "_-./=" for character in word)
    if "/" in word or word.endswith("=") or re.fullmatch(r"[A-Za-z_]{1,250}\d{0,1}", word):
        return False
    return letters and (digits or signs > 0)

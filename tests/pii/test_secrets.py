"""Keys and passwords: services' forms, what is assigned, private keys whole, cut short and merely mentioned."""

import random
import string

import pytest

from danlu.pii import secrets
from danlu.pii.find import settle
from danlu.pii.view import look
from danlu.words.text import Text

DRAW = random.Random(4)
RANDOM = "aB3" + "".join(DRAW.choices(string.ascii_letters + string.digits, k=37))
LINE = "".join(DRAW.choices(string.ascii_letters + string.digits, k=64))
# Put together here, so that this file holds no token itself.
GITHUB, AMAZON = "ghp" + "_" + RANDOM[:36], "AK" + "IA" + "ABCDEFGHIJ234567"
BEGIN, END = "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE KEY-----"


def found(text):
    return [text[item.start : item.end] for item in settle(secrets.secrets(look(Text(text))), len(text))]


def test_forms_of_services():
    assert found(f"use {GITHUB}, or {AMAZON}.") == [GITHUB, AMAZON]
    assert found(f"{GITHUB}extra-{GITHUB}") == []
    assert found("sk-" + RANDOM) == ["sk-" + RANDOM]
    assert found("sk-learn-contrib-something-longer") == []


def test_private_keys():
    whole = f"{BEGIN}\n{LINE}\n{LINE}\n{END}"
    assert found(f"a\n{whole}\nb\n{whole}") == [whole, whole]
    assert found(f"{BEGIN}\\n{LINE}\\n{END}") == [f"{BEGIN}\\n{LINE}\\n{END}"]
    cut = f"{BEGIN}\n{LINE}\n{LINE}"
    assert found(f"{cut}\nThen prose.") == [cut]
    assert found(f"{cut}\n{whole}") == [cut, whole]
    assert found(f"Between {BEGIN} and {END} stands the key.") == []
    assert found(BEGIN) == []
    assert found(whole.replace("PRIVATE", "PUBLIC")) == []


@pytest.mark.parametrize(
    "form", ["api_key = '{}'", "TOKEN={}", '"secret": "{}"', "key: {}", "密钥：{}", "my token is {}."]
)
def test_what_is_assigned(form):
    assert found(form.format(RANDOM)) == [RANDOM]


@pytest.mark.parametrize(
    "text",
    [
        *(
            RANDOM,
            f"commit {RANDOM}",
            "key = value_of_the_other_key",
            "token = tokens.next_token()",
            "key: none",
        ),
        *(
            "secret = os.environ['SECRET_VALUE_12']",
            "api_key=your-api-key-0123456789",
            "token=${TOKEN_0123456789abc}",
        ),
        *(
            "password: see below",
            "password = get_password2()",
            "passwords",
            "pwd",
            "password=",
            "密码：无",
            "key1 = key22",
        ),
    ],
)
def test_what_is_no_secret(text):
    assert found(text) == []


@pytest.mark.parametrize("word", ["hunter2!", "Tr0ub4dor&3", "s3cr3t", "p@ssw0rd", "Abc12345"])
def test_passwords(word):
    for form in ("password: {}", "PASSWORD='{}'", "密码是{}", "passwd={}"):
        expected = word if "'" in form else word.rstrip("!")
        assert found(form.format(word)) in ([expected], [] if expected == "hunter2" else [expected])
    assert found(f"word: {word}") == []


def test_randomness():
    assert secrets.is_random(RANDOM)
    assert not secrets.is_random("the_configuration_of_the_file")
    assert not secrets.is_random("1234567890123456789")
    assert not secrets.is_random("aaaaaaaaaaaaaaaa1A")
    assert not secrets.is_random(RANDOM[:15])

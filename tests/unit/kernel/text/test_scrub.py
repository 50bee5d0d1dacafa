"""Credentials go, prose stays, and hostile text costs linear time."""

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.cpu import cpu_seconds

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.scrub import scrub, scrub_value

if TYPE_CHECKING:
    from cairn.kernel.text.json_value import JsonValue

# Built from parts, so that no scanner of this repository takes the examples for leaks.
RANDOM = "a8Fk29dLq0Zx7Tn3"
AWS_ID = "AKIA" + "IOSFODNN7EXAMPLE"
AWS_SECRET = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
PEM_BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7\n"


def pem(kind: str = "PRIVATE KEY") -> str:
    return f"-----BEGIN {kind}-----\n{PEM_BODY}-----END {kind}-----"


# text, the part that must be gone, the kind, a part that must stay
LEAKS = [
    (f"use sk-{RANDOM}{RANDOM} please", f"sk-{RANDOM}", "api-key", "please"),
    (f"sk-proj-{RANDOM}-{RANDOM}_x", RANDOM, "api-key", ""),
    (f"sk-ant-api03-{RANDOM}{RANDOM}", RANDOM, "api-key", ""),
    (f"id {AWS_ID} region eu-west-1", AWS_ID, "aws-access-key-id", "eu-west-1"),
    (f"ASIA{AWS_ID[4:]}", AWS_ID[4:], "aws-access-key-id", ""),
    (f"aws_secret_access_key = {AWS_SECRET}", AWS_SECRET, "aws-secret-key", "aws_secret"),
    (f'"SecretAccessKey": "{AWS_SECRET}"', AWS_SECRET, "aws-secret-key", "SecretAccessKey"),
    (f"ghp_{RANDOM}{RANDOM}abcd", RANDOM, "api-key", ""),
    (f"github_pat_{RANDOM}_{RANDOM}", RANDOM, "api-key", ""),
    (f"glpat-{RANDOM}abcd", RANDOM, "api-key", ""),
    (f"xoxb-123456789012-{RANDOM}", RANDOM, "api-key", ""),
    (f"https://hooks.slack.com/services/T0/B0/{RANDOM}", RANDOM, "webhook-url", "hooks.slack.com"),
    (f"AIza{RANDOM}{RANDOM}abc", RANDOM, "api-key", ""),
    (f"sk_live_{RANDOM}{RANDOM}", RANDOM, "api-key", ""),
    (f"rk_test_{RANDOM}", RANDOM, "api-key", ""),
    (f"SG.{RANDOM}abcdef.{RANDOM}abcdef", RANDOM, "api-key", ""),
    (f"hf_{RANDOM}{RANDOM}", RANDOM, "api-key", ""),
    (f"npm_{RANDOM}{RANDOM}abcd", RANDOM, "api-key", ""),
    (f"cairn_k7x2.{RANDOM}{RANDOM}", RANDOM, "cairn-key", ""),
    (f"api_key={RANDOM}", RANDOM, "api-key", "api_key="),
    (f"apiKey: '{RANDOM}'", RANDOM, "api-key", "apiKey"),
    (f"X-Api-Key: {RANDOM}", RANDOM, "api-key", "X-Api-Key"),
    ("API_KEY=abcdef", "abcdef", "api-key", ""),
    (f"https://x.example/?access_token={RANDOM}&page=2", RANDOM, "token", "&page=2"),
    (f"client_secret: {RANDOM}", RANDOM, "token", ""),
    (f"the token is {RANDOM}, keep it", RANDOM, "token", "keep it"),
    (f"tool --api-token {RANDOM} run", RANDOM, "token", "run"),
    ("password: hunter2", "hunter2", "password", "password:"),
    ("Password = correcthorse.", "correcthorse", "password", "."),
    ("pw: hunter2 ok", "hunter2", "password", "ok"),
    ("smtp pass=hunter2", "hunter2", "password", "smtp"),
    ("curl -u alice:wonder https://x.example", "wonder", "password", "-u alice:"),
    ("pwd=abc", "abc", "password", ""),
    ("DB_PASSWORD=p,w!d#1 next", "p,w!d#1", "password", "next"),
    ('{"password": "two words \\" quoted", "user": "bob"}', "two words", "password", "bob"),
    ('log: {\\"password\\": \\"hunter2\\", \\"n\\": 1}', "hunter2", "password", '\\"n\\": 1'),
    ("my wifi password is Sunfl0wer!", "Sunfl0wer", "password", "my wifi"),
    ("passphrase is 'sunflower'", "sunflower", "password", ""),
    ("I changed the password to tr0ub4dor&3 today", "tr0ub4dor", "password", "today"),
    ("CREATE USER a IDENTIFIED BY 'letmein'", "letmein", "password", "CREATE USER"),
    ("mysql --password hunter2 -h db", "hunter2", "password", "-h db"),
    ("Passwort: geheim1", "geheim1", "password", ""),
    (f"Authorization: Bearer {RANDOM}", RANDOM, "bearer-token", "Authorization: Bearer"),
    ("curl -H 'Authorization: Bearer abcdefgh' x", "abcdefgh", "authorization", " x"),
    (f"authorization: token {RANDOM}", RANDOM, "authorization", ""),
    ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNz", "authorization", "Basic"),
    (f"bearer {JWT}", "eyJzdWIi", "jwt", ""),
    (f"see {JWT}, ok", "dozjgNry", "jwt", ", ok"),
    (f"Cookie: session={RANDOM}; theme=dark", RANDOM, "cookie", "Cookie:"),
    ("postgres://bob:p4ss@db.example:5432/app", "bob:p4ss", "url-credentials", "db.example:5432"),
    ("mongodb+srv://u:p@ss:w@c0.example/x", "p@ss:w", "url-credentials", "@c0.example/x"),
    ("redis://:s3cret@cache:6379", "s3cret", "url-credentials", "cache:6379"),
    ("https://alice:wonder@example.org/a?b=c", "wonder", "url-credentials", "example.org/a?b=c"),
    (f"https://{RANDOM}{RANDOM}@sentry.example/1", RANDOM, "url-credentials", "sentry.example/1"),
    ("Server=db;User Id=sa;Password=Qw3rty;Database=x", "Qw3rty", "password", "Database=x"),
    (f"AccountName=a;AccountKey={RANDOM}==;Endpoint=b", RANDOM, "api-key", "Endpoint=b"),
    (f"before {pem()} after", "MIIEvQ", "private-key", "after"),
    (f"{pem('RSA PRIVATE KEY')}", "MIIEvQ", "private-key", ""),
    (f"{pem('OPENSSH PRIVATE KEY')}", "BKcwgg", "private-key", ""),
    (f"-----BEGIN EC PRIVATE KEY-----\n{PEM_BODY}", "BKcwgg", "private-key", ""),
    (pem().replace("\n", "\\n"), "BKcwgg", "private-key", ""),
]

PROSE = [
    "the password policy is strict",
    "token ring",
    "The password is required and must be long.",
    "Passwords: why they fail",
    "Password: must be at least 12 characters",
    "Forgot your password: https://example.org/reset",
    "Username/password: see the vault",
    "pass: 10, fail: 2",
    "a mountain pass: steep",
    "docker run -u 1000:1000 image",
    "the password is case-sensitive",
    "a token: one unit of text",
    "the secret: never give up",
    "max_tokens=4096, tokens: 512",
    "bearer of good news",
    "the bearer responsibilities are listed below",
    "Basic authentication is used here",
    "Authorization: required for all users",
    "sk-learn pipelines and scikit-learn",
    "task-1234567890123456 is done",
    "ssh://git@github.com/org/repo.git",
    "https://example.org:8080/path?x=1@home",
    "see https://user.example/@alice/posts and mail bob@example.org",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "id 0198c2f4-7b1e-7c3a-9f55-0a1b2c3d4e5f",
    "/usr/lib/python3/dist-packages/cryptography/hazmat",
    "def login(user: str, password: str) -> None:",
    "password = form.password",
    "api_key = settings.api_key",
    "password: ${DB_PASSWORD}",
    "postgres://{user}:{password}@localhost/db",
    "token = get_token(request)",
    "the cookie: a small file",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "cairn_settings.get_or_create_pool",
    "key-value pairs, keyboard, monkey business",
    "He passed the word: be ready.",
    "import secrets; secrets.token_hex(16)",
    "PWD=/home/alice",
    "Ünïcödé — 日本語 text with no secrets",
]


@pytest.mark.parametrize(("text", "gone", "kind", "kept"), LEAKS)
def test_a_credential_is_replaced_and_the_rest_kept(
    text: str, gone: str, kind: str, kept: str
) -> None:
    scrubbed = scrub(text)
    assert gone not in scrubbed.text
    assert kind in scrubbed.found
    assert f"[REDACTED:{kind}]" in scrubbed.text
    assert kept in scrubbed.text


def test_ordinary_text_is_left_alone() -> None:
    assert [text for text in PROSE if scrub(text).text != text or scrub(text).found] == []


def test_scrubbing_twice_changes_nothing_and_finds_nothing() -> None:
    once = [scrub(text).text for text in (*(leak[0] for leak in LEAKS), *PROSE)]
    assert [text for text in once if scrub(text).text != text or scrub(text).found] == []


PIECES = st.sampled_from(
    [
        *(
            "password",
            "token",
            "api_key",
            "bearer ",
            "://",
            ":",
            "=",
            " ",
            "@",
            '"',
            "'",
            "\\",
            ".",
        ),
        *("\n", ",", "]", "[REDACTED:", "[REDACTED:token]", "-----BEGIN PRIVATE KEY-----", "eyJ"),
        *(RANDOM, AWS_ID, AWS_SECRET, "cookie", "basic ", "is ", "--", "a", "sk-", "is", "{", "&"),
        *("-----END PRIVATE KEY-----", "/", "cairn_", "authorization", ";", "é", "https", "secret"),
    ]
)


@settings(max_examples=600)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_scrubbing_is_idempotent_on_any_mixture(text: str) -> None:
    once = scrub(text).text
    assert scrub(once).text == once


@given(st.text())
def test_text_without_a_find_is_unchanged(text: str) -> None:
    scrubbed = scrub(text)
    assert scrubbed.found or scrubbed.text == text


HOSTILE = [
    *(
        "a",
        "a ",
        "password",
        "password:",
        "password=",
        'password="',
        "password is ",
        "a://a:",
        "://",
    ),
    *("a://b@", "eyJaaaaaaaa.", "eyJ", "bearer ", "bearer a", "sk-", "sk-a-", "xox", "cairn_a.a"),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN ",
        "-",
        "[REDACTED:",
        "basic YTpi ",
        "cookie: a=b;",
    ),
    *(
        "secret_",
        "--token ",
        "&sig=",
        "A1b/",
        "token=,",
        "token is .",
        "\\",
        '\\"',
        "AKIA",
        "key: ",
    ),
    *(
        "authorization: bearer ",
        "curl ",
        "curl -u a:",
        "password=!",
        "api_api_",
        "::::",
        "SG.",
        "0:AA",
        "x-y-z-",
    ),
]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_linearly_with_hostile_text(piece: str) -> None:
    small, large = (piece * (size // len(piece)) for size in (31_250, 250_000))
    # eight times the text: quadratic work would take 64 times as long
    assert cpu_seconds(lambda: scrub(large)) < 20 * cpu_seconds(lambda: scrub(small)) + 0.1


def test_one_long_line_before_a_key_word_is_linear_too() -> None:
    text = "a" * 500_000 + "password: hunter2 " + "b" * 500_000
    assert scrub(text).text.count("[REDACTED:password]") == 1


def test_every_string_of_a_value_is_scrubbed_in_place() -> None:
    value: JsonValue = {"log": ["ok", {"line": f"Bearer {RANDOM}"}], "n": 3, "f": 0.5, "z": None}
    clean, found = scrub_value(value)
    assert clean == {
        "log": ["ok", {"line": "Bearer [REDACTED:bearer-token]"}],
        "n": 3,
        "f": 0.5,
        "z": None,
    }
    assert found == ("bearer-token",)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("password", "password"),
        ("dbPassword", "password"),
        ("DB_PASSWD", "password"),
        ("api-key", "api-key"),
        ("X-API-Key", "api-key"),
        ("client_secret", "token"),
        ("accessToken", "token"),
        ("Authorization", "authorization"),
        ("Set-Cookie", "cookie"),
    ],
)
def test_a_value_whose_key_names_a_secret_goes_whole(key: str, kind: str) -> None:
    clean, found = scrub_value({key: "plain words"})
    assert clean == {key: f"[REDACTED:{kind}]"}
    assert found == (kind,)


def test_keys_that_only_resemble_secrets_keep_their_values() -> None:
    value: JsonValue = {
        **{"max_tokens": 5, "token_count": "7", "password_policy": "strict", "secretary": "Ann"},
        **{"is_secret": True, "keyboard": "qwerty", "password": "", "token": None},
    }
    assert scrub_value(value) == (value, ())


def test_numbers_under_a_password_key_and_nested_values_go_too() -> None:
    clean, _ = scrub_value({"password": 1234, "credentials": {"user": "u", "list": ["x"], "n": 1}})
    assert clean == {
        "password": "[REDACTED:password]",
        "credentials": {
            "user": "[REDACTED:token]",
            "list": ["[REDACTED:token]"],
            "n": 1,
        },
    }


def test_secrets_used_as_keys_are_scrubbed_without_losing_an_entry() -> None:
    clean, _ = scrub_value({f"sk-{RANDOM}1234": 1, f"sk-{RANDOM}5678": 2})
    assert clean == {"[REDACTED:api-key]": 1, "[REDACTED:api-key] 2": 2}


def test_scrubbing_a_value_twice_changes_nothing() -> None:
    value: JsonValue = {"password": "x", "a": [f"token={RANDOM}", {"pwd": {"b": "c"}}]}
    once, found = scrub_value(value)
    assert found == ("password", "token")
    assert scrub_value(once) == (once, ())


def test_hostile_nesting_is_refused() -> None:
    value = json.loads("[" * 500 + "]" * 500)
    with pytest.raises(ValidationFailed):
        scrub_value(value)

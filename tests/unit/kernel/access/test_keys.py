"""API keys as text: made whole, read whole, refused otherwise."""

import hashlib
import os

import pytest

from cairn.kernel.access.keys import make_key, read_key

KEY = make_key(lambda size: bytes(range(size)))


def test_a_key_is_a_prefix_and_a_secret_of_which_only_the_hash_is_kept() -> None:
    prefix, _, secret = KEY.text.removeprefix("cairn_").partition(".")
    assert prefix == KEY.prefix == "0001020304050607"
    assert len(secret) == 43
    assert KEY.hash == hashlib.sha256(secret.encode()).digest()
    assert secret not in repr(KEY)


def test_a_whole_key_is_read_back() -> None:
    assert read_key(KEY.text) == (KEY.prefix, KEY.hash)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cairn_",
        KEY.text[:-1],
        KEY.text + "A",
        KEY.text[1:],
        KEY.text.replace(".", ""),
        KEY.text.upper(),
        f" {KEY.text}",
        f"{KEY.text}\n",
        KEY.text.replace("0", "\u0660", 1),
    ],
)
def test_anything_else_is_no_key(text: str) -> None:
    assert read_key(text) is None


def test_two_keys_differ() -> None:
    assert make_key(os.urandom).text != make_key(os.urandom).text

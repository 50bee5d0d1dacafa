"""From bytes to text: encodings that are right, and damage that is named."""

import codecs

import pytest

from cairn.documents.parse import decode, parse
from cairn.kernel.errors import ValidationFailed

GREETING = "Grüezi, wie gaht's? — Très bien €"


@pytest.mark.parametrize(
    "content",
    [
        GREETING.encode(),
        codecs.BOM_UTF8 + GREETING.encode(),
        codecs.BOM_UTF16_LE + GREETING.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + GREETING.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + GREETING.encode("utf-32-le"),
        GREETING.encode("cp1252"),
    ],
    ids=["utf-8", "utf-8 mark", "utf-16-le", "utf-16-be", "utf-32-le", "windows-1252"],
)
def test_every_usual_encoding_gives_the_same_text(content: bytes) -> None:
    assert decode(content) == GREETING


def test_latin_1_bytes_that_windows_1252_lacks_are_still_read() -> None:
    assert decode(b"caf\xe9 \x81") == "café \x81"


def test_a_charset_parameter_decides() -> None:
    content = "Привет".encode("koi8-r")
    assert parse(content, "text/plain; charset=koi8-r").blocks[0].text == "Привет"


def test_a_meta_charset_decides_for_html_only() -> None:
    content = '<meta charset="windows-1251"><p>Привет'.encode("cp1251")
    assert parse(content, "text/html").blocks[0].text == "Привет"


def test_an_unknown_meta_charset_is_passed_over() -> None:
    content = '<meta charset="klingon"><p>Grüezi'.encode()
    assert parse(content, "text/html").blocks[0].text == "Grüezi"


def test_a_charset_that_does_not_fit_the_bytes_is_malformed() -> None:
    with pytest.raises(ValidationFailed) as caught:
        decode(b"caf\xe9", charset="utf-8")
    assert caught.value.reason == "malformed-document"


@pytest.mark.parametrize("charset", ["klingon", "base64", "x" * 300])
def test_an_unknown_charset_is_named(charset: str) -> None:
    with pytest.raises(ValidationFailed) as caught:
        decode(b"text", charset=charset)
    assert caught.value.reason == "unknown-charset"


def test_a_nul_is_refused_with_its_line() -> None:
    with pytest.raises(ValidationFailed, match="line 2") as caught:
        parse(b"first\nsec\x00ond", "text/markdown")
    assert caught.value.reason == "malformed-document"


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(ValidationFailed, match="surrogate") as caught:
        parse(b"broken \xed\xa0\x80 text", "text/plain")
    assert caught.value.reason == "malformed-document"


def test_utf_16_cut_in_the_middle_is_refused() -> None:
    with pytest.raises(ValidationFailed) as caught:
        decode(codecs.BOM_UTF16_LE + b"a\x00b")
    assert caught.value.reason == "malformed-document"


def test_binary_data_is_refused() -> None:
    with pytest.raises(ValidationFailed) as caught:
        decode(bytes(range(1, 256)))
    assert caught.value.reason == "malformed-document"


def test_utf_8_cut_inside_a_character_keeps_the_rest() -> None:
    assert decode("Überall Bäume für€".encode()[:-1]) == "Überall Bäume für\ufffd"


def test_every_line_end_becomes_a_line_feed() -> None:
    assert decode(b"one\r\ntwo\rthree\nfour\x0cfive") == "one\ntwo\nthree\nfour\nfive"

"""Long messages in little memory."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.connectors.lines import HEAD, MAX_LINE, SIZE_KEY, Lines, TooLong, mended

LONG = "x" * (MAX_LINE + 1)


def fed(text: bytes, size: int = 65_536) -> list[bytes]:
    lines, found = Lines(), list[bytes]()
    for start in range(0, len(text), size):
        found += lines.feed(text[start : start + size])
    return found


def answer(text: str, *, id_: object = 7, **result: object) -> dict[str, object]:
    content = [{"type": "text", "text": text}]
    return {"jsonrpc": "2.0", "id": id_, "result": {"content": content, **result}}


@given(
    st.lists(st.binary(max_size=50).map(lambda item: item.replace(b"\n", b""))), st.integers(1, 9)
)
def test_lines_come_out_as_they_went_in_however_they_are_cut(lines: list[bytes], size: int) -> None:
    assert fed(b"".join(line + b"\n" for line in lines), size) == lines


def test_a_line_without_its_end_waits() -> None:
    lines = Lines()
    assert lines.feed(b"a\nb") == [b"a"]
    assert lines.feed(b"c\n") == [b"bc"]


@pytest.mark.parametrize("size", [1_000, 65_536, 5_000_000])
def test_a_long_answer_keeps_its_beginning_its_id_and_its_size(size: int) -> None:
    whole = json.dumps(answer(LONG, isError=True)).encode()

    [line] = fed(whole + b"\n", size)

    short = json.loads(line)
    assert short["id"] == 7
    text = short["result"]["content"][0]["text"]
    assert HEAD - 200 < len(text) < HEAD and set(text) == {"x"}
    assert short["result"]["isError"] is True
    assert short["result"]["_meta"] == {SIZE_KEY: len(whole)}


@pytest.mark.parametrize("id_", [3, "three"])
def test_an_id_at_the_end_is_found(id_: object) -> None:
    said = answer(LONG, id_=id_)
    ordered = {"result": said["result"], "jsonrpc": "2.0", "id": id_}

    assert json.loads(fed(json.dumps(ordered).encode() + b"\n")[0])["id"] == id_


def test_an_id_inside_the_text_is_not_taken_for_one() -> None:
    ordered = {"result": answer(LONG + '"id":9}')["result"], "jsonrpc": "2.0", "id": 4}

    assert json.loads(fed(json.dumps(ordered).encode() + b"\n")[0])["id"] == 4


@pytest.mark.parametrize(
    "line",
    [
        b"y" * (MAX_LINE + 10),
        json.dumps({"result": {"a": LONG, "b": {"id": 5}}}).encode(),
        json.dumps({"id": True, "result": LONG}).encode(),
        json.dumps({"id": None, "result": LONG}).encode(),
        json.dumps([LONG]).encode(),
    ],
    ids=["noise", "an id deeper", "a truth", "null", "a list"],
)
def test_a_long_line_that_answers_nothing_is_too_long(line: bytes) -> None:
    with pytest.raises(TooLong):
        fed(line + b"\n")


def test_a_character_or_escape_cut_in_two_is_left_out() -> None:
    for unit in ("é", "\\u00e9", "😀", "\\ud83d\\ude00", '\\"'):
        head = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"'
        for shift in range(13):
            text = "a" * shift + unit * (MAX_LINE // len(unit.encode()) + 20)
            [line] = fed(head + text.encode() + b'"}]}}\n', 250_000)
            shown = json.loads(line)["result"]["content"][0]["text"]
            assert len(shown) > 10_000


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (rb'"cut \ud83d"', "cut \ufffd"),
        (rb'"cut \uDE00 twice \ud83d\ud83d"', "cut \ufffd twice \ufffd\ufffd"),
        (rb'"whole \ud83d\ude00 \u00e9"', "whole 😀 é"),
        (rb'"a path C:\\ud83d, \\\ud83d\n"', "a path C:\\ud83d, \\\ufffd\n"),
        (b'"latin \xe9"', "latin \ufffd"),
    ],
)
def test_half_a_character_spoils_no_message(sent: bytes, read: str) -> None:
    assert json.loads(mended(sent)) == read


def test_half_a_character_spoils_no_long_message() -> None:
    whole = json.dumps(answer("\ud83d" + LONG)).encode()

    [line] = fed(whole + b"\n")

    assert json.loads(line)["result"]["content"][0]["text"].startswith("\ufffdxxx")


def test_what_is_no_text_is_shown_as_it_began() -> None:
    said = {"jsonrpc": "2.0", "id": 1, "result": {"structuredContent": {"rows": [LONG]}}}

    short = json.loads(fed(json.dumps(said).encode() + b"\n")[0])

    assert short["result"]["content"][0]["text"].startswith('{"structuredContent": {"rows"')


def test_an_event_of_a_stream_stays_one() -> None:
    [line] = fed(b"data: " + json.dumps(answer(LONG)).encode() + b"\r\n")

    assert line.startswith(b"data:")
    assert json.loads(line[5:])["id"] == 7


def test_a_hundred_megabytes_need_two() -> None:
    lines, chunk = Lines(), b"z" * 65_536
    lines.feed(b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"')
    tracemalloc.start()
    for _ in range(1_600):
        lines.feed(chunk)
    [line] = lines.feed(b'"}]}}\n')
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert json.loads(line)["result"]["_meta"][SIZE_KEY] > 100_000_000
    assert peak < 4_000_000

"""Sections and chunks: headings, sizes, topics, places, and nothing lost."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.documents.chunking import ChunkSizes, cutoff, depths
from cairn.documents.parse import parse
from cairn.documents.parsed import DocumentTree
from cairn.documents.split import split

WEATHER = "Snow and storm warnings reach the hut by radio, and the storm delays every snow report. "
PAYMENT = "The deposit is charged to the card, and the card issuer returns the deposit on refund. "


def tokens(text: str) -> int:
    return len(re.findall(r"\w+|[^\w\s]", text))


def tree(text: str) -> DocumentTree:
    return split(parse(text.encode(), "text/markdown"), tokens)


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_first_and_second_level_headings_open_sections_and_deeper_ones_chunks() -> None:
    found = tree("intro\n\n# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n\n# E\n\ne\n")
    assert [section.headings for section in found.sections] == [
        (), ("A",), ("A", "B"), ("A", "D"), ("E",)
    ]  # fmt: skip
    assert [(chunk.headings, chunk.text) for chunk in found.sections[2].chunks] == [
        (("A", "B"), "b"),
        (("A", "B", "C"), "c"),
    ]
    assert [chunk.ordinal for chunk in found.chunks] == [0, 1, 2, 3, 4, 5]


def test_a_heading_without_text_is_kept_in_the_path_or_as_a_chunk() -> None:
    found = tree("# Guide\n\n## Setup\n\nRun it.\n\n## To do\n")
    assert [(chunk.headings, chunk.text) for chunk in found.chunks] == [
        (("Guide", "Setup"), "Run it."),
        (("Guide", "To do"), "To do"),
    ]


def test_a_skipped_level_does_not_leave_an_old_heading_in_the_path() -> None:
    found = tree("# A\n\n### Deep\n\nx\n\n## B\n\ny\n")
    assert [chunk.headings for chunk in found.chunks] == [("A", "Deep"), ("A", "B")]


def test_lines_of_chunks_point_at_the_source() -> None:
    text = "# Title\n\nFirst paragraph\nin two lines.\n\n```sh\nls\n```\n"
    (chunk,) = tree(text).chunks
    assert text.split("\n")[chunk.line_from - 1 : chunk.line_to] == chunk.text.split("\n")  # type: ignore[operator]


def test_text_is_cut_where_the_topic_changes() -> None:
    text = "\n\n".join([WEATHER * 4] * 3 + [PAYMENT * 4] * 3)
    topics = [("Snow" in chunk.text, "deposit" in chunk.text) for chunk in tree(text).chunks]
    assert (True, True) not in topics
    assert len(topics) >= 2


def test_the_deepest_valley_of_cohesion_is_where_the_words_change() -> None:
    found = depths([WEATHER] * 5 + [PAYMENT] * 5)
    assert found.index(max(found)) == 4
    assert found[4] > cutoff(found)


def test_passages_on_one_topic_have_no_boundary() -> None:
    assert max(depths([WEATHER] * 8)) == pytest.approx(0.0)
    assert depths(["only one"]) == []


@pytest.mark.parametrize(
    "text",
    [
        "word " * 5_000,
        "x" * 50_000,
        "漢字" * 5_000,
        "- an item of the list\n" * 900,
        "> quoted line\n" * 900,
        "Sentence one is here. Sentence two! " * 400,
        "a\n" * 4_000,
        "| a | b |\n|---|---|\n" + "| one cell | two |\n" * 600,
        "line of a log 12:30\n" * 900,
    ],
    ids=["words", "one word", "no spaces", "list", "quote", "sentences", "lines", "table", "log"],
)
def test_no_chunk_is_over_the_cap_and_no_character_is_lost(text: str) -> None:
    def count(part: str) -> int:
        return tokens(part) + len(part) // 8

    found = split(parse(text.encode(), "text/markdown"), count).chunks
    assert max(chunk.token_count for chunk in found) <= 800
    assert [chunk.token_count for chunk in found] == [count(chunk.text) for chunk in found]
    if not text.startswith("|"):
        assert squeezed("".join(chunk.text for chunk in found)) == squeezed(text)


@given(
    st.text(alphabet="ab .!\n-#漢\t", min_size=1, max_size=400).filter(lambda text: text.strip())
)
def test_any_plain_text_comes_out_whole_within_the_cap(text: str) -> None:
    sizes = ChunkSizes(least=3, soft=10, cap=16)
    found = split(parse(text.encode(), "text/plain"), len, sizes=sizes).chunks
    assert squeezed("".join(chunk.text for chunk in found)) == squeezed(text)
    assert max(chunk.token_count for chunk in found) <= 16
    places = [(chunk.line_from or 0, chunk.line_to or 0) for chunk in found]
    assert places == sorted(places)
    assert places[-1][1] <= text.count("\n") + 1


def test_the_head_of_a_table_is_repeated_in_each_chunk() -> None:
    rows = [f"| hut {n} | {n} beds |" for n in range(300)]
    found = tree("| hut | size |\n|---|---|\n" + "\n".join(rows)).chunks
    assert len(found) > 3
    assert all(chunk.text.startswith("| hut | size |\n|---|---|\n") for chunk in found)
    assert [row for chunk in found for row in chunk.text.split("\n")[2:]] == rows


def test_a_fence_longer_than_the_cap_stays_whole() -> None:
    fence = "```py\n" + "call(1, 2)\n\n" * 400 + "```"
    found = tree(f"Before.\n\n{fence}\n\nAfter.\n").chunks
    assert [chunk.text for chunk in found if "call" in chunk.text] == [
        next(chunk.text for chunk in found if fence in chunk.text)
    ]


def test_code_beyond_any_reason_is_cut_at_line_ends() -> None:
    fence = "```\n" + "call(1, 2)\n" * 8_000 + "```"
    found = tree(fence).chunks
    assert max(chunk.token_count for chunk in found) <= 800
    assert squeezed("".join(chunk.text for chunk in found)) == squeezed(fence)


def test_long_sections_become_chunks_near_the_target() -> None:
    text = "\n\n".join(f"{WEATHER}{PAYMENT}Number {n} of them is {n * 7}." for n in range(200))
    sizes = [chunk.token_count for chunk in tree(text).chunks]
    assert 150 <= sum(sizes) / len(sizes) <= 320


def test_equal_text_has_equal_hashes_and_other_headings_change_the_section_only() -> None:
    one, other = tree("# A\n\nSame text.\n"), tree("# B\n\nSame text.\n")
    assert one.chunks[0].content_hash == other.chunks[0].content_hash
    assert one.sections[0].content_hash != other.sections[0].content_hash
    assert tree("# A\n\nSame text.\n") == one


def test_a_megabyte_of_markdown_is_split_within_two_seconds() -> None:
    section = (
        "## Part {n}\n\n" + (WEATHER * 3 + "\n\n" + PAYMENT * 3 + "\n\n") * 8 + "```\nls\n```\n\n"
    )
    text = "".join(section.replace("{n}", str(n)) for n in range(240))
    assert len(text) > 1_000_000
    parsed = parse(text.encode(), "text/markdown")
    started = time.process_time()
    split(parsed, lambda part: len(part) // 4 + 1)
    assert time.process_time() - started < 2

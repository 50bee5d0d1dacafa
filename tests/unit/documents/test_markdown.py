"""Markdown blocks: what stays whole, what is dropped, and on which lines things stand."""

from cairn.documents.parse import parse
from cairn.documents.parsed import Block, BlockKind


def blocks(text: str) -> list[Block]:
    return list(parse(text.encode(), "text/markdown").blocks)


def test_each_kind_of_block_is_told_with_its_lines() -> None:
    text = "# One\n\nText\nmore\n\n- a\n- b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n"
    text += "\n> said\n\n```py\nx = 1\n```\n"
    assert [(each.kind, each.line_from, each.line_to) for each in blocks(text)] == [
        (BlockKind.HEADING, 1, 1),
        (BlockKind.PARAGRAPH, 3, 4),
        (BlockKind.LIST, 6, 7),
        (BlockKind.TABLE, 9, 11),
        (BlockKind.QUOTE, 13, 13),
        (BlockKind.CODE, 15, 17),
    ]


def test_a_hash_inside_a_fence_is_no_heading() -> None:
    found = blocks("```sh\n# not a heading\n\nls\n```\n\n# Heading")
    assert [each.kind for each in found] == [BlockKind.CODE, BlockKind.HEADING]
    assert found[0].text == "```sh\n# not a heading\n\nls\n```"


def test_an_unclosed_fence_reaches_the_end() -> None:
    assert [each.kind for each in blocks("~~~\ncode\n\n# still code")] == [BlockKind.CODE]


def test_underlined_headings_have_their_level() -> None:
    found = blocks("Title\n=====\n\nPart\n----\n")
    assert [(each.level, each.text) for each in found] == [(1, "Title"), (2, "Part")]


def test_heading_text_has_no_marks_and_no_link_targets() -> None:
    assert blocks("## The **fast** `path` to [here](http://x/y) ##")[0].text == (
        "The fast path to here"
    )


def test_front_matter_is_one_block_and_gives_the_title() -> None:
    parsed = parse(b"---\ntitle: 'On call'\nowner: Ines\n---\n# Heading\n", "text/markdown")
    assert parsed.title == "On call"
    assert parsed.blocks[0].kind is BlockKind.FRONT_MATTER
    assert parsed.blocks[1].line_from == 5


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert [each.text for each in blocks("---\n\nText without an end")] == ["Text without an end"]


def test_scripts_and_comments_in_raw_html_are_dropped() -> None:
    found = blocks("Before\n\n<script>steal()</script>\n\n<!-- hidden -->\n\n<div>Shown</div>\n")
    assert [each.text for each in found] == ["Before", "Shown"]


def test_link_definitions_are_kept() -> None:
    found = blocks("See [the wiki].\n\n[the wiki]: https://wiki.example/runbook\n")
    assert found[-1].text == "[the wiki]: https://wiki.example/runbook"


def test_an_absurdly_long_heading_is_text() -> None:
    assert blocks("# " + "word " * 400)[0].kind is BlockKind.PARAGRAPH


def test_deep_nesting_is_read_without_recursion() -> None:
    assert "x" in blocks(">" * 20_000 + "x")[0].text

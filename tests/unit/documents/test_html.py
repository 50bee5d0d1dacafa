"""HTML: what a reader sees is kept, what he does not see is dropped, lines are the source's."""

import pytest

from cairn.documents.parse import parse
from cairn.documents.parsed import Block, BlockKind
from cairn.kernel.errors import ValidationFailed


def blocks(text: str) -> list[Block]:
    return list(parse(text.encode(), "text/html").blocks)


def test_only_visible_text_is_read() -> None:
    page = """<head><style>p { color: red }</style></head><body>
    <p>seen</p><script>let unseen = "<p>1</p>";</script><!-- unseen -->
    <template><p>unseen</p></template>
    <noscript>unseen</noscript><p hidden>unseen</p><p style="color:red; display : NONE">unseen</p>
    <div aria-hidden="true">unseen</div><nav>unseen</nav><p>also seen</p></body>"""
    assert [each.text for each in blocks(page)] == ["seen", "also seen"]


def test_an_unclosed_script_hides_the_rest() -> None:
    assert [each.text for each in blocks("<p>seen</p><script>let a = 1; <p>no")] == ["seen"]


def test_blocks_have_kinds_levels_and_lines() -> None:
    page = """<h2>Part
  two</h2>
<p>First &amp;
second</p>

<ul><li>one<ul><li>inner</li></ul></li>
<li>two</li></ul>
<table><tr><th>k</th><th>v</th></tr>
<tr><td>a</td><td>1</td></tr></table>
<pre>
if x:
    y()
</pre><blockquote>said</blockquote>"""
    assert [(b.kind, b.level, b.text, b.line_from, b.line_to) for b in blocks(page)] == [
        (BlockKind.HEADING, 2, "Part two", 1, 2),
        (BlockKind.PARAGRAPH, 0, "First & second", 3, 4),
        (BlockKind.LIST, 0, "- one\n  - inner\n- two", 6, 7),
        (BlockKind.TABLE, 0, "k | v\na | 1", 8, 9),
        (BlockKind.CODE, 0, "if x:\n    y()", 11, 12),
        (BlockKind.QUOTE, 0, "said", 13, 13),
    ]


def test_lines_stay_right_behind_hidden_text_and_scripts() -> None:
    page = "<p hidden>\nthe same word\n</p>\n<script>\nword\n</script>\n<p>the same word</p>"
    assert (blocks(page)[0].line_from, blocks(page)[0].line_to) == (7, 7)


def test_broken_markup_still_gives_its_text() -> None:
    found = blocks("<p>one<p>two<b>bold<i>both</b>rest<td>cell</div></table>three")
    assert "".join(each.text for each in found).replace("\n", "") == "onetwoboldbothrestcellthree"


def test_text_without_any_tag_is_a_paragraph() -> None:
    assert blocks("just words")[0].text == "just words"


def test_a_page_of_scripts_only_is_empty() -> None:
    with pytest.raises(ValidationFailed) as caught:
        parse(b"<script>go()</script>", "text/html")
    assert caught.value.reason == "empty-document"


def test_hostile_nesting_is_refused_at_once() -> None:
    with pytest.raises(ValidationFailed) as caught:
        parse(b"<div>" * 200_000, "text/html")
    assert caught.value.reason == "malformed-document"


def test_nesting_that_pages_really_have_is_read() -> None:
    assert blocks("<div>" * 400 + "deep" + "</div>" * 400)[0].text == "deep"

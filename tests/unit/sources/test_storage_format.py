"""Confluence's storage format as HTML: what is kept, and that nothing in it runs or never ends."""

from __future__ import annotations

from contextlib import suppress

import pytest

from cairn.adapters.sources.storage_format import storage_to_html
from cairn.kernel.errors import ValidationFailed


def body(storage: str) -> str:
    html = storage_to_html(storage, title="T", attachments=[])
    return html.split("<h1>T</h1>", 1)[1].removesuffix("</body></html>")


@pytest.mark.parametrize(
    ("storage", "kept"),
    [
        ("<p>One &amp; <b>two</b></p>", "<p>One &amp; <b>two</b></p>"),
        ("<p onclick='x()'>One</p>", "<p>One</p>"),
        ("<script>alert(1)</script><p>One</p>", "<p>One</p>"),
        ("<p>A<br/>B</p>", "<p>A<br>B</p>"),
        ('<p><ac:link><ri:page ri:content-title="On &lt;call&gt;"/></ac:link>.</p>',
         "<p>On &lt;call&gt;.</p>"),
        ('<p>Due <time datetime="2026-11-24" />.</p>', "<p>Due 2026-11-24.</p>"),
        ('<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">sh</ac:parameter>'
         "<ac:plain-text-body><![CDATA[a < b && <script>]]></ac:plain-text-body>"
         "</ac:structured-macro><p>After</p>",
         "<pre>a &lt; b &amp;&amp; &lt;script&gt;</pre><p>After</p>"),
        ("<ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>incomplete"
         "</ac:task-status><ac:task-body>Ask Ada</ac:task-body></ac:task></ac:task-list>",
         "<ul><li>Ask Ada</li></ul>"),
        ('<p>A<ac:parameter ac:name="x"/>B</p>', "<p>AB</p>"),
        ("", ""),
        ("<![CDATA[never closed", ""),
    ],
)  # fmt: skip
def test_what_people_read_is_kept_and_nothing_else(storage: str, kept: str) -> None:
    assert body(storage) == kept


def test_titles_and_names_of_attachments_are_texts() -> None:
    html = storage_to_html("", title="<b>T</b>", attachments=["<i>.pdf"])
    assert "&lt;b&gt;T&lt;/b&gt;" in html
    assert "<li>&lt;i&gt;.pdf</li>" in html


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<!--",
        "<![CDATA[",
        "<![",
        "<a ",
        "<a b='",
        "</",
        "&",
        "<?",
        "<br>",
        "<time ",
        "<!-- --!",
    ],
)
def test_hostile_pages_come_to_an_end(piece: str) -> None:
    with suppress(ValidationFailed):  # some of them nest too deep
        storage_to_html(piece * 100_000, title="T", attachments=[])


@pytest.mark.parametrize("piece", ["<div>", "<ac:parameter>", "<ri:page>"])
def test_pages_that_nest_without_end_are_refused(piece: str) -> None:
    with pytest.raises(ValidationFailed, match="deep"):
        storage_to_html(piece * 5_000, title="T", attachments=[])

"""What a bot writes: texts that mention nobody and hide no address, and Adaptive Cards. Pure.

Text of others stands in cards as text runs, which know no Markdown: what is shown is what it is.
https://learn.microsoft.com/adaptive-cards/authoring-cards/universal-action-model
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.channels.port import Button, Message

CONTENT_TYPE = "application/vnd.microsoft.card.adaptive"
MESSAGE_TYPE = "application/vnd.microsoft.activity.message"
VERSION = "1.4"
"""The first with Action.Execute; an older client presses its fallback, Action.Submit."""

MAX_CHARS, MAX_BYTES = 12_000, 28_000
"""Of a text, and of all that a message holds: Teams takes 40 KB, an old connector 28."""

MAX_SUMMARY_CHARS = 200

BUTTON, VALUE = "button", "value"
STYLES = {"good": "positive", "bad": "destructive"}

_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\(\s{0,9}<?([^\s()<>]{1,2000})>?[^()\n]{0,300}\)")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_BRACKETS = str.maketrans({"[": "\\[", "]": "\\]"})


def activity(message: Message) -> dict[str, Any]:
    """Return the activity of a message: a text, or a card where there is more than that."""
    if message.title or message.facts or message.buttons or message.links:
        attachment = {"contentType": CONTENT_TYPE, "content": card(message)}
        summary = (message.title or message.text)[:MAX_SUMMARY_CHARS]
        return {"type": "message", "summary": summary, "attachments": [attachment]}
    return {"type": "message", "textFormat": "markdown", "text": message_text(message.text)}


def message_text(text: str) -> str:
    """Return a text as Teams' Markdown, in which only lists, emphasis and code are marks.

    Links become `label (address)`, so that nobody is sent where a label does not say; HTML and
    mentions are shown and do nothing.
    """
    most, shown = MAX_CHARS, ""
    while most == MAX_CHARS or len(shown.encode()) > MAX_BYTES:
        linked = _LINK.sub(_open_link, _cut(text, most))
        shown = linked.translate(_ENTITIES).translate(_BRACKETS)
        most = most * 3 // 4
    return shown


def card(message: Message) -> dict[str, Any]:
    """Return the Adaptive Card of a message; its texts are cut until it is short enough."""
    most, whole = MAX_CHARS, _card(message, MAX_CHARS)
    while len(json.dumps(whole).encode()) > MAX_BYTES and most > 100:
        most //= 2
        whole = _card(message, most)
    return whole


def _card(message: Message, most: int) -> dict[str, Any]:
    body = [_run(message.title, most, size="Large", weight="Bolder")] if message.title else []
    if message.text:
        body.append(_run(message.text, most))
    for name, value in message.facts:
        body += [_run(name, most, weight="Bolder"), _run(value, most)]
    links = [{"type": "Action.OpenUrl", "title": each.label, "url": each.url}
             for each in message.links]  # fmt: skip
    return {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": VERSION,
        "body": body,
        "actions": [*map(_action, message.buttons), *links],
        "msteams": {"width": "Full"},
    }


def invoke_answer(text: str) -> Mapping[str, Any]:
    """Return what a pressed button is answered with: a line that Teams shows to who pressed it."""
    return {"statusCode": 200, "type": MESSAGE_TYPE, "value": text}


def _open_link(link: re.Match[str]) -> str:
    return link[2] if link[1] in ("", link[2]) else f"{link[1]} ({link[2]})"


def _run(text: str, most: int, **more: str) -> dict[str, Any]:
    run = {"type": "TextRun", "text": _cut(text, most), **more}
    return {"type": "RichTextBlock", "inlines": [run]}


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"


def _action(button: Button) -> dict[str, Any]:
    data = {BUTTON: button.name, VALUE: button.value}
    return {
        "type": "Action.Execute",
        "title": button.label,
        "verb": button.name,
        "style": STYLES.get(button.tone, "default"),
        "data": data,
        "fallback": {"type": "Action.Submit", "title": button.label, "data": data},
    }

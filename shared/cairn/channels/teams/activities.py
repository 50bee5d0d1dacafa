"""Activities of the Bot Framework as Teams sends them: who said or pressed what, where. Pure.

A thread is a conversation: in a team's channel one reply chain (`...;messageid=ROOT`), else all of
a personal or a group chat. https://learn.microsoft.com/microsoftteams/platform/bots
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NoReturn, cast

from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.tickets.adapter import text_at, time_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

MAX_TEXT_CHARS = 100_000
MAX_ID_CHARS = 500
MAX_NAME_CHARS = 200
MAX_PRESSED_FIELDS, MAX_PRESSED_CHARS = 20, 2_000
CARD_ACTION = "adaptiveCard/action"

_ID = re.compile(r"[\x21-\x7e]+")
_OBJECT_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_AT = re.compile(r"</?at(?: [^<>]{0,100})?>")
_BAD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class Place(StrEnum):
    """Where people talk with a bot."""

    PERSONAL = "personal"
    CHANNEL = "channel"
    GROUP = "groupChat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """What somebody wrote, or pressed: then `pressed` has what the button carries.

    `mentioned` says whether the bot was meant; in a personal chat it always is. Whoever waits for
    an answer in the response is `invoked`.
    """

    id: str
    place: Place
    conversation: str
    service_url: str
    user: str
    object_id: str
    name: str
    bot: str
    text: str
    mentioned: bool
    at: datetime
    reply_to: str = ""
    pressed: Mapping[str, str] | None = None
    invoked: bool = False


def activity_of(record: Mapping[str, Any]) -> Activity | None:
    """Return what a person did; None for what else happens, and for what bots say.

    ValidationFailed for one that lacks who, where or its id.
    """
    pressed = _pressed(record)
    kind = text_at(record, "type")
    if kind != "message" and not (kind == "invoke" and pressed is not None):
        return None
    at = time_at(record, "timestamp")
    if at is None:
        _refuse("timestamp")
    user, bot = (_id(record, name, "id") for name in ("from", "recipient"))
    if text_at(record, "from", "role") == "bot" or user.startswith("28:"):
        return None
    kind_of_place = text_at(record, "conversation", "conversationType")
    place = Place(kind_of_place) if kind_of_place in set(Place) else Place.GROUP
    text, mentioned = said_in(record, bot)
    object_id = text_at(record, "from", "aadObjectId").casefold()
    return Activity(
        id=_id(record, "id"),
        place=place,
        conversation=_id(record, "conversation", "id"),
        service_url=text_at(record, "serviceUrl"),
        user=user,
        object_id=object_id if _OBJECT_ID.fullmatch(object_id) else "",
        name=_clean(text_at(record, "from", "name"))[:MAX_NAME_CHARS],
        bot=bot,
        text=text,
        mentioned=mentioned or place is Place.PERSONAL,
        reply_to=_optional_id(text_at(record, "replyToId")),
        pressed=pressed,
        invoked=kind == "invoke",
        at=at,
    )


def said_in(record: Mapping[str, Any], bot: str) -> tuple[str, bool]:
    """Return the text without the mention of the bot, and whether there was one.

    Who is mentioned stands in the entities: the text is whatever its author made of it.
    """
    text = text_at(record, "text")[:MAX_TEXT_CHARS].replace("&nbsp;", " ").replace("\xa0", " ")
    mentioned = False
    for entity in _records(record.get("entities")):
        if text_at(entity, "type") != "mention" or text_at(entity, "mentioned", "id") != bot:
            continue
        mentioned = True
        mark = text_at(entity, "text") or f"<at>{text_at(entity, 'mentioned', 'name')}</at>"
        text = text.replace(mark, " ")
    lines = (re.sub(r"[ \t]+", " ", line).strip() for line in _clean(_AT.sub("", text)).split("\n"))
    return "\n".join(lines).strip(), mentioned


def _pressed(record: Mapping[str, Any]) -> Mapping[str, str] | None:
    """Return what a button of a card carries, with what was typed into the card; None for a text.

    An old client sends a message with a `value` (Action.Submit), a new one an invoke.
    """
    value: Any = record.get("value")
    if text_at(record, "type") == "invoke":
        action: Any = (
            cast("dict[str, Any]", value).get("action") if isinstance(value, dict) else None
        )
        if text_at(record, "name") != CARD_ACTION or not isinstance(action, dict):
            return None
        value = cast("dict[str, Any]", action).get("data") or {}
    if not isinstance(value, dict):
        return None
    pairs = list(cast("dict[str, Any]", value).items())[:MAX_PRESSED_FIELDS]
    return {
        _clean(name)[:100]: _clean(each)[:MAX_PRESSED_CHARS]
        for name, each in pairs
        if isinstance(each, str)
    }


def _records(value: object) -> Iterator[Mapping[str, Any]]:
    for each in cast("list[Any]", value)[:100] if isinstance(value, list) else []:
        if isinstance(each, dict):
            yield cast("dict[str, Any]", each)


def _id(record: Mapping[str, Any], *path: str) -> str:
    value = _optional_id(text_at(record, *path))
    if not value:
        _refuse(".".join(path))
    return value


def _refuse(where: str) -> NoReturn:
    raise ValidationFailed(
        f"{where} is needed in an activity.",
        reason="activity",
        errors=[FieldError(where, "is needed")],
    )


def _optional_id(value: str) -> str:
    return value if len(value) <= MAX_ID_CHARS and _ID.fullmatch(value) else ""


def _clean(text: str) -> str:
    """Return a text without what no store can keep; carriage returns are line breaks."""
    return _BAD.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))

"""Reads the pages of Notion that an integration was let see; rows of databases are pages, too.

Search lists pages by when they changed: the newest first until what the last run saw. Once a day
all is listed: pages, the rows of each database, and one by one what was read before and is in none
of them, since search is not complete. Times are of whole minutes: a page of the last minutes is
read once more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.adapters.sources.changes import Changes, Place, moment, most_lists, plain
from cairn.adapters.sources.notion_text import TextOfBlocks, properties_text, title_of
from cairn.adapters.sources.web_api import WebApi, record, records
from cairn.kernel.errors import NotFound, ValidationFailed
from cairn.sources.reader import Item, Page
from cairn.sources.source import Content

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cairn.sources.reader import Limits, Marks

VERSION = "2022-06-28"
"""Of Notion's API: a row's parent is a database here, and databases are no pages."""

GAP_SECONDS = 0.34
"""Three requests a second are allowed."""

A_PAGE = 100
OVERLAP, UNSETTLED = timedelta(minutes=15), timedelta(minutes=3)
AT_ONCE = 20
"""Pages that are asked for one by one between two words of how far the run is."""

CHANGES, PAGES, ROWS, KNOWN = "changes", "pages", "rows ", "known"
MOST_ITEMS = 100_000


def notion_headers(secrets: Mapping[str, str]) -> dict[str, str]:
    """Return how a request signs in, and which version of the API it speaks."""
    token = secrets.get("token", "")
    return {"authorization": f"Bearer {token}", "notion-version": VERSION}


@dataclass
class NotionReader:
    """Implements `Reader`."""

    limits: Limits
    api: WebApi
    _titles: dict[str, str] = field(default_factory=dict[str, str], init=False)
    _seen: set[str] = field(default_factory=set[str], init=False)
    _databases: list[str] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._changes = Changes.of(self.limits)
        self._most = most_lists(self.limits)

    def version(self) -> str | None:
        """Return since when changes are looked for next time."""
        return self._changes.version()

    def page(self, cursor: str | None, marks: Marks) -> Page:
        """Return the pages after a cursor; of changes the first list is empty."""
        place = Place.of(cursor)
        if place is None:
            if self._changes.since is not None:
                return Page(items=(), cursor=Place(part=CHANGES).cursor(), partial=True)
            place = Place(part=PAGES)
        if place.part == CHANGES:
            return self._changed(place)
        if place.part == PAGES:
            answer = self._search("page", "ascending", place.next)
            return self._listed(place, answer, next(iter(self._rows()), KNOWN))
        if place.part == KNOWN:
            return self._left_out(place, marks)
        return self._in_database(place)

    def _search(self, kind: str, direction: str, cursor: str | None) -> dict[str, Any]:
        query: dict[str, Any] = {
            "filter": {"property": "object", "value": kind},
            "sort": {"timestamp": "last_edited_time", "direction": direction},
            "page_size": A_PAGE,
        }
        return self.api.post("/v1/search", query | _from(cursor))

    def _changed(self, place: Place) -> Page:
        """Return what changed last, until it is older than what the last run saw."""
        answer = self._search("page", "descending", place.next)
        pages, following = records(answer), _next(answer)
        if any(self._is_older(each) for each in pages):
            pages, following = [each for each in pages if not self._is_older(each)], None
        cursor = place.after(place.part if following else None, following, self._most)
        return Page(items=self._items(pages), cursor=cursor, partial=True)

    def _in_database(self, place: Place) -> Page:
        parts = self._rows()
        later = parts[parts.index(place.part) + 1 :] if place.part in parts else []
        path = f"/v1/databases/{place.part.removeprefix(ROWS)}/query"
        try:
            answer = self.api.post(path, {"page_size": A_PAGE} | _from(place.next))
        except (NotFound, ValidationFailed):  # it went, is not shown, or has several sources
            answer = {}
        return self._listed(place, answer, next(iter(later), KNOWN))

    def _listed(self, place: Place, answer: dict[str, Any], then: str) -> Page:
        following = _next(answer)
        cursor = place.after(place.part if following else then, following, self._most)
        return Page(items=self._items(records(answer)), cursor=cursor)

    def _left_out(self, place: Place, marks: Marks) -> Page:
        """Look at pages that were read before and no search lists: search is not complete."""
        after = place.next or ""
        keys = sorted(key for key in marks(None) if key > after and key not in self._seen)
        chosen, left = keys[:AT_ONCE], len(keys) > AT_ONCE
        items = tuple(item for key in chosen if (item := self._asked_for(key)) is not None)
        part = place.part if left else None
        return Page(items=items, cursor=place.after(part, chosen[-1] if left else None, MOST_ITEMS))

    def _asked_for(self, key: str) -> Item | None:
        try:
            page = self.api.get(f"/v1/pages/{key}")
        except (NotFound, ValidationFailed):
            return None
        return self._item(page)

    def _items(self, pages: list[dict[str, Any]]) -> tuple[Item, ...]:
        """Return the items of pages, but for those that this listing had."""
        items = [item for each in pages if (item := self._item(each)) is not None]
        fresh = [item for item in items if item.key not in self._seen]
        self._seen.update(item.key for item in fresh)
        return tuple(fresh)

    def _rows(self) -> list[str]:
        """Return the parts that are databases, by their ids."""
        if self._databases is None:
            place, ids = Place(part=ROWS), set[str]()
            while True:
                answer = self._search("database", "ascending", place.next)
                ids.update(filter(None, (_id(each.get("id")) for each in records(answer))))
                following = _next(answer)
                cursor = place.after(ROWS if following else None, following, self._most)
                if cursor is None:
                    break
                place = Place.of(cursor) or place
            self._databases = [ROWS + each for each in sorted(ids)]
        return self._databases

    def close(self) -> None:
        """Nothing is open."""

    def _is_older(self, page: Mapping[str, Any]) -> bool:
        since, edited = self._changes.since, moment(page.get("last_edited_time"))
        return since is not None and edited is not None and edited < since - OVERLAP

    def _item(self, page: dict[str, Any]) -> Item | None:
        page_id, edited = _id(page.get("id")), moment(page.get("last_edited_time"))
        if page_id is None or edited is None or page.get("object") != "page":
            return None
        if page.get("archived") or page.get("in_trash"):
            return Item(key=page_id, gone=True)
        return Item(key=page_id, mark=self._mark(edited), load=partial(self._load, page_id, page))

    def _mark(self, edited: datetime) -> str:
        is_settled = self._changes.began - edited >= UNSETTLED
        return edited.isoformat() if is_settled else f"{edited.isoformat()} and on"

    def _load(self, page_id: str, page: dict[str, Any]) -> Content:
        properties = record(page, "properties")
        title = title_of(properties) or page_id
        children = TextOfBlocks(children=self._children)
        text = children(page_id)
        if page_id in children.missing:
            raise NotFound("The page is gone.", reason="gone")
        rows = properties_text(properties) if self._database(page) else ""
        body = "\n\n".join(part for part in (f"# {title}", rows, text) if part)
        metadata: dict[str, Any] = {
            "url": plain(page.get("url"), 1_000),
            "database": self._database(page) or "",
        }
        if children.cut:
            metadata["cut"] = True
        return Content(
            body=body.encode(), media_type="text/markdown", title=title[:300], metadata=metadata
        )

    def _database(self, page: Mapping[str, Any]) -> str | None:
        """Return the title of the database that a page is a row of, or its id."""
        database_id = _id(record(page, "parent", "database_id"))
        if database_id is None:
            return None
        if database_id not in self._titles:
            self._titles[database_id] = self._database_title(database_id)
        return self._titles[database_id]

    def _database_title(self, database_id: str) -> str:
        try:
            answer = self.api.get(f"/v1/databases/{database_id}")
        except (NotFound, ValidationFailed):
            return database_id
        words = "".join(plain(each.get("plain_text"), 200) for each in records(answer, "title"))
        return words[:200] or database_id

    def _children(
        self, block_id: str, cursor: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        block = _id(block_id)
        if block is None:
            raise NotFound("There is no such block.", reason="gone")
        answer = self.api.get(f"/v1/blocks/{block}/children", page_size=A_PAGE, start_cursor=cursor)
        return records(answer), _next(answer)


def _from(cursor: str | None) -> dict[str, str]:
    return {"start_cursor": cursor} if cursor else {}


def _next(answer: Mapping[str, Any]) -> str | None:
    cursor = answer.get("next_cursor")
    return cursor if answer.get("has_more") is True and isinstance(cursor, str) else None


def _id(value: Any) -> str | None:
    """Return an id in its usual form; None for what is none, and could change a path."""
    try:
        return str(UUID(str(value)))
    except ValueError:
        return None

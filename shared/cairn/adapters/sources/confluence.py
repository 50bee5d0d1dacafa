"""Reads the pages of Confluence Cloud: REST v2, CQL for what changed. Of attachments the names.

All pages are listed by their versions once a day, between what CQL says changed and what lies in
the trash. CQL counts days in the time zone of who asks: two days are always looked at again.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlsplit

from cairn.adapters.sources.changes import Changes, Place, most_lists, plain
from cairn.adapters.sources.storage_format import storage_to_html
from cairn.adapters.sources.web_api import WebApi, objects, record, records
from cairn.kernel.errors import CairnError, NotFound, Unavailable, ValidationFailed
from cairn.sources.reader import Item, Page
from cairn.sources.source import Content

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.sources.configs import ConfluenceConfig
    from cairn.sources.reader import Limits, Marks

V2, SEARCH = "/wiki/api/v2", "/wiki/rest/api/search"
A_PAGE, MOST_PARENTS, MOST_NAMES = 100, 20, 50
OVERLAP = timedelta(days=2)
CHANGES, TRASH, PAGES = "changes", "trash ", "pages "
MOST_TRASH = 10
"""Lists of a space's trash that are looked at, the newest first: what was just put there."""


def confluence_headers(config: ConfluenceConfig, secrets: Mapping[str, str]) -> dict[str, str]:
    """Return how a request signs in: an account's address with its API token."""
    pair = f"{config.username}:{secrets.get('token', '')}".encode()
    return {"authorization": f"Basic {b64encode(pair).decode()}"}


@dataclass
class ConfluenceReader:
    """Implements `Reader`."""

    config: ConfluenceConfig
    limits: Limits
    api: WebApi
    _titles: dict[str, tuple[str, str]] = field(default_factory=dict[str, "tuple[str, str]"])
    _spaces: dict[str, str] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._changes = Changes.of(self.limits)

    def version(self) -> str | None:
        """Return since when changes are looked for next time."""
        return self._changes.version()

    def page(self, cursor: str | None, marks: Marks) -> Page:
        """Return the pages after a cursor; of changes the first list is empty."""
        place = Place.of(cursor)
        if place is None:
            if self._changes.since is not None:
                return Page(items=(), cursor=Place(part=CHANGES).cursor(), partial=True)
            spaces = list(self._all_spaces())
            if not spaces:
                return Page(items=())
            place = Place(part=PAGES + spaces[0])
        if place.part == CHANGES:
            return self._changed(place)
        return self._of_space(place)

    def close(self) -> None:
        """Nothing is open."""

    def _changed(self, place: Place) -> Page:
        since = (self._changes.since or self._changes.began) - OVERLAP
        spaces = ", ".join(f'"{key}"' for key in self.config.spaces)
        where = f"space in ({spaces}) and " if spaces else ""
        cql = f'{where}type = page and lastmodified >= "{since:%Y/%m/%d}" order by lastmodified'
        answer = self.api.get(
            SEARCH, cql=cql, limit=A_PAGE, cursor=place.next, expand="content.version"
        )
        contents = objects([each.get("content") for each in records(answer)])
        pages = [self._numbered(page) for page in contents]
        following = _next(answer)
        part = CHANGES if following else self._first_trash()
        return self._listed(self._items(pages), self._after(place, part, following))

    def _numbered(self, page: dict[str, Any]) -> dict[str, Any]:
        """Return a page with its version, which search leaves out where it does not expand it."""
        page_id = str(page.get("id", ""))
        if isinstance(record(page, "version", "number"), int) or not page_id.isdecimal():
            return page
        try:
            return self.api.get(f"{V2}/pages/{page_id}")
        except (NotFound, ValidationFailed):
            return page

    def _first_trash(self) -> str | None:
        return next((TRASH + space for space in self._all_spaces()), None)

    def _of_space(self, place: Place) -> Page:
        kind, space = place.part[: len(PAGES)], place.part[len(PAGES) :]
        is_trash = kind == TRASH
        answer = self.api.get(
            f"{V2}/spaces/{quote(space, safe='')}/pages",
            status="trashed" if is_trash else "current",
            sort="-modified-date" if is_trash else "id",
            limit=A_PAGE,
            cursor=place.next,
        )
        pages, following = records(answer), _next(answer)
        if is_trash and place.lists >= MOST_TRASH:
            following = None
        spaces = list(self._all_spaces())
        later = spaces[spaces.index(space) + 1 :] if space in spaces else []
        part = place.part if following else (kind + later[0] if later else None)
        items = self._gone(pages) if is_trash else self._items(pages)
        return self._listed(items, self._after(place, part, following))

    def _listed(self, items: tuple[Item, ...], cursor: str | None) -> Page:
        return Page(items=items, cursor=cursor, partial=self._changes.since is not None)

    def _after(self, place: Place, part: str | None, following: str | None) -> str | None:
        return place.after(part, following, most_lists(self.limits))

    def _all_spaces(self) -> dict[str, str]:
        """Return the spaces that are read: their keys by their ids."""
        if self._spaces is None:
            self._spaces = {}
            place = Place(part="spaces")
            while True:
                answer = self.api.get(
                    f"{V2}/spaces",
                    keys=",".join(self.config.spaces) or None,
                    type=None if self.config.spaces else "global",
                    status="current",
                    limit=A_PAGE,
                    cursor=place.next,
                )
                for space in records(answer):
                    self._spaces[str(space.get("id"))] = str(space.get("key"))
                following = _next(answer)
                if following is None:
                    break
                cursor = place.after("spaces", following, most_lists(self.limits))
                place = Place.of(cursor) or place
            self._require_all(self._spaces)
        return self._spaces

    def _require_all(self, spaces: Mapping[str, str]) -> None:
        missing = sorted(set(self.config.spaces) - set(spaces.values()))
        if missing:
            raise NotFound(
                f"Confluence has no space {', '.join(missing)}, or not for this token.",
                reason="no-such-space",
            )

    def _items(self, pages: list[dict[str, Any]]) -> tuple[Item, ...]:
        return tuple(item for page in pages if (item := self._item(page)) is not None)

    def _item(self, page: dict[str, Any]) -> Item | None:
        page_id, number = str(page.get("id", "")), record(page, "version", "number")
        if not page_id.isdecimal() or not isinstance(number, int):
            return None
        if page.get("status", "current") != "current":
            return None
        self._name(page_id, page)
        return Item(key=page_id, mark=str(number), load=partial(self._load, page_id))

    def _gone(self, pages: list[dict[str, Any]]) -> tuple[Item, ...]:
        ids = (str(page.get("id", "")) for page in pages)
        return tuple(Item(key=each, gone=True) for each in ids if each.isdecimal())

    def _name(self, page_id: str, page: dict[str, Any]) -> None:
        parent = page.get("parentId")
        if "parentId" in page:
            self._titles[page_id] = (plain(page.get("title"), 200), str(parent or ""))

    def _load(self, page_id: str) -> Content:
        page = self.api.get(
            f"{V2}/pages/{page_id}", **{"body-format": "storage", "include-labels": "true"}
        )
        if page.get("status", "current") != "current":
            raise NotFound("The page is gone.", reason="gone")
        storage = record(page, "body", "storage", "value")
        if not isinstance(storage, str):
            raise ValidationFailed("The page has no text.", reason="empty-document")
        title = plain(page.get("title"), 300) or page_id
        self._name(page_id, page)
        attachments = self.api.get(f"{V2}/pages/{page_id}/attachments", limit=MOST_NAMES)
        names = [name for each in records(attachments) if (name := plain(each.get("title"), 200))]
        html = storage_to_html(storage, title=title, attachments=names[:MOST_NAMES])
        labels = records(record(page, "labels") or {})
        metadata = {
            "url": self._address(page),
            "space": self._all_spaces().get(str(page.get("spaceId")), ""),
            "path": self._path(page_id, title),
            "labels": [plain(each.get("name"), 100) for each in labels[:MOST_NAMES]],
        }
        return Content(body=html.encode(), media_type="text/html", title=title, metadata=metadata)

    def _address(self, page: dict[str, Any]) -> str:
        path = plain(record(page, "_links", "webui"), 1_000)
        return f"{self.config.url.rstrip('/')}/wiki{path}" if path.startswith("/") else ""

    def _path(self, page_id: str, title: str) -> str:
        """Return the titles from the topmost page to this one; stops where they go in a ring."""
        titles, seen = [title], {page_id}
        parent = self._titles.get(page_id, ("", ""))[1]
        while parent.isdecimal() and parent not in seen and len(titles) < MOST_PARENTS:
            seen.add(parent)
            if parent not in self._titles:
                try:
                    self._name(parent, self.api.get(f"{V2}/pages/{parent}"))
                except Unavailable:
                    raise
                except CairnError:  # a folder, or a page that this token may not see
                    break
            above = self._titles.get(parent)
            if above is None:
                break
            titles.append(above[0])
            parent = above[1]
        return " / ".join(reversed(titles))[:2_000]


def _next(answer: Mapping[str, Any]) -> str | None:
    """Return the cursor of the next list: of a link only that is taken, never where it leads."""
    link = record(answer, "_links", "next")
    if not isinstance(link, str):
        return None
    return next(iter(parse_qs(urlsplit(link).query).get("cursor", [])), None)

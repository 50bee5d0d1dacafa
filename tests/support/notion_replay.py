"""Notion's API as documented, version 2022-06-28: search, block children, databases; in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.support.replaying import Asked, Replay, Reply, Route

if TYPE_CHECKING:
    from collections.abc import Mapping

Record = dict[str, Any]
TOKEN = "ntn_12345678901"
DATABASE = "d9824bdc-8445-4327-be8b-5b47500af6ce"


def text(value: str) -> list[Record]:
    return [{"type": "text", "text": {"content": value}, "plain_text": value, "href": None}]


def block(
    block_id: str, kind: str, value: str = "", *, children: bool = False, **more: Any
) -> Record:
    content = {"rich_text": text(value), "color": "default", **more}
    return {
        "object": "block",
        "id": block_id,
        "type": kind,
        "has_children": children,
        "archived": False,
        kind: content,
    }


@dataclass(kw_only=True)
class NotionReplay(Replay):
    """Pages by id, and the blocks in pages and in blocks; `a_page` is how many a list has."""

    pages: dict[str, Record] = field(default_factory=dict)
    blocks: dict[str, list[Record]] = field(default_factory=dict)
    token: str = TOKEN
    a_page: int = 2
    now: datetime = field(default_factory=lambda: datetime(2026, 11, 20, 9, 0, tzinfo=UTC))
    ring: bool = False
    hidden: set[str] = field(default_factory=set)
    """Pages that search does not know of."""
    split: bool = False
    """Whether the database has several data sources, which this version cannot query."""

    def write(self, page_id: str, title: str, *blocks: Record, row: bool = False) -> None:
        """Write a page, or change it; a row is one of the database."""
        before = self.pages.get(page_id, {})
        parent = {"type": "database_id", "database_id": DATABASE}
        properties = {"Name": {"id": "title", "type": "title", "title": text(title)}}
        if row:
            status = {"id": "x", "type": "status", "status": {"name": "Done"}}
            due = {"id": "y", "type": "date", "date": {"start": "2026-12-01", "end": None}}
            properties |= {"State": status, "Due": due}
        self.pages[page_id] = {
            "object": "page",
            "id": page_id,
            "created_time": before.get("created_time", self._time()),
            "last_edited_time": self._time(),
            "archived": False,
            "in_trash": False,
            "parent": parent if row else {"type": "workspace", "workspace": True},
            "properties": properties,
            "url": f"https://www.notion.so/{page_id.replace('-', '')}",
        }
        self.blocks[page_id] = list(blocks)

    def _time(self) -> str:
        return self.now.replace(second=0, microsecond=0).isoformat().replace("+00:00", ".000Z")

    def refused(self, asked: Asked) -> Reply | None:
        if asked.headers.get("authorization") != f"Bearer {self.token}":
            return _error(401, "unauthorized", "API token is invalid.")
        if asked.headers.get("notion-version") != "2022-06-28":
            return _error(400, "missing_version", "Notion-Version header should be defined.")
        return None

    def unknown(self, asked: Asked) -> Reply:
        return _error(404, "object_not_found", "Could not find it. Is it shared?")

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {
            ("POST", "/v1/search"): self._search,
            ("GET", r"/v1/blocks/([0-9a-f-]+)/children"): self._children,
            ("GET", r"/v1/databases/([0-9a-f-]+)"): self._database,
            ("POST", r"/v1/databases/([0-9a-f-]+)/query"): self._rows,
            ("GET", r"/v1/pages/([0-9a-f-]+)"): self._page,
        }

    def _search(self, asked: Asked) -> Reply:
        wanted = asked.body
        assert wanted["sort"]["timestamp"] == "last_edited_time"
        if wanted["filter"] == {"property": "object", "value": "database"}:
            database = {"object": "database", "id": DATABASE, "title": text("Tasks")}
            return self._listed([database], wanted.get("start_cursor"))
        assert wanted["filter"] == {"property": "object", "value": "page"}
        known = (each for each in self.pages.values() if each["id"] not in self.hidden)
        pages = [each for each in known if not each["archived"]]
        newest = wanted["sort"]["direction"] == "descending"
        pages.sort(key=lambda each: each["last_edited_time"], reverse=newest)
        return self._listed(pages, wanted.get("start_cursor"))

    def _children(self, asked: Asked, block_id: str) -> Reply:
        if block_id not in self.blocks:
            return self.unknown(asked)
        return self._listed(self.blocks[block_id], asked.query.get("start_cursor"))

    def _rows(self, asked: Asked, database_id: str) -> Reply:
        if self.split:
            return _error(400, "validation_error", "Databases with multiple data sources ...")
        rows = [
            each
            for each in self.pages.values()
            if each["parent"].get("database_id") == database_id and not each["archived"]
        ]
        return self._listed(rows, asked.body.get("start_cursor"))

    def _page(self, asked: Asked, page_id: str) -> Reply:
        page = self.pages.get(page_id)
        return self.unknown(asked) if page is None else Reply(body=page)

    def _database(self, asked: Asked, database_id: str) -> Reply:
        return Reply(body={"object": "database", "id": database_id, "title": text("Tasks")})

    def _listed(self, rows: list[Record], cursor: str | None) -> Reply:
        at = int(cursor or 0)
        more = at + self.a_page < len(rows) or self.ring
        following = 0 if self.ring else at + self.a_page
        return Reply(
            body={
                "object": "list",
                "results": rows[at : at + self.a_page],
                "has_more": more,
                "next_cursor": str(following) if more else None,
            }
        )


def _error(status: int, code: str, message: str) -> Reply:
    body = {"object": "error", "status": status, "code": code, "message": message}
    return Reply(status=status, body=body)

"""Confluence Cloud as documented: REST v2 of spaces and pages, and CQL search."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from tests.support.replaying import Asked, Replay, Reply, Route

if TYPE_CHECKING:
    from collections.abc import Mapping

Record = dict[str, Any]
USER, TOKEN = "ada@example.org", "ATATT3xFfGF0-secret"


@dataclass(kw_only=True)
class ConfluenceReplay(Replay):
    """One space, OPS, with pages by id; `a_page` is how many a list has."""

    pages: dict[str, Record] = field(default_factory=dict)
    token: str = TOKEN
    a_page: int = 2
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    forbidden: set[str] = field(default_factory=set)
    ring: bool = False
    expands: bool = True

    def write(self, page_id: str, title: str, storage: str, parent: str | None = None) -> None:
        """Write a page, or another version of it."""
        before = self.pages.get(page_id)
        number = before["version"]["number"] + 1 if before else 1
        self.pages[page_id] = {
            "id": page_id,
            "status": "current",
            "title": title,
            "spaceId": "98306",
            "parentId": parent,
            "parentType": "page" if parent else None,
            "authorId": "557058:ada",
            "createdAt": "2026-01-02T03:04:05.678Z",
            "version": {
                "createdAt": self.now.isoformat(),
                "message": "",
                "number": number,
                "minorEdit": False,
                "authorId": "557058:ada",
            },
            "_storage": storage,
            "_links": {"webui": f"/spaces/OPS/pages/{page_id}/{title}", "tinyui": "/x/AQ"},
        }

    def trash(self, page_id: str) -> None:
        self.pages[page_id]["status"] = "trashed"

    def refused(self, asked: Asked) -> Reply | None:
        basic = b64encode(f"{USER}:{self.token}".encode()).decode()
        if asked.headers.get("authorization") == f"Basic {basic}":
            return None
        return Reply(status=401, body={"code": 401, "message": "Unauthorized"})

    def unknown(self, asked: Asked) -> Reply:
        error = {"status": 404, "code": "NOT_FOUND", "title": "Not Found", "detail": None}
        return Reply(status=404, body={"errors": [error]})

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {
            ("GET", "/wiki/api/v2/spaces"): self._spaces,
            ("GET", r"/wiki/api/v2/spaces/98306/pages"): self._in_space,
            ("GET", r"/wiki/api/v2/pages/(\d+)"): self._page,
            ("GET", r"/wiki/api/v2/pages/(\d+)/attachments"): self._attachments,
            ("GET", "/wiki/rest/api/search"): self._search,
        }

    def _spaces(self, asked: Asked) -> Reply:
        keys = asked.query.get("keys", "OPS").split(",")
        space = {"id": "98306", "key": "OPS", "name": "Operations", "type": "global"}
        return Reply(body={"results": [space] if "OPS" in keys else [], "_links": {}})

    def _in_space(self, asked: Asked) -> Reply:
        pages = [each for each in self.pages.values() if each["status"] == asked.query["status"]]
        shown = [_without_body(each) for each in sorted(pages, key=lambda each: int(each["id"]))]
        return self._listed(asked, shown)

    def _page(self, asked: Asked, page_id: str) -> Reply:
        if page_id in self.forbidden:
            return Reply(status=403, body={"errors": [{"status": 403, "code": "FORBIDDEN"}]})
        page = self.pages.get(page_id)
        if page is None:
            return self.unknown(asked)
        shown = _without_body(page)
        if asked.query.get("body-format") == "storage":
            value = {"representation": "storage", "value": page["_storage"]}
            shown |= {"body": {"storage": value}}
        if asked.query.get("include-labels") == "true":
            label = {"id": "1", "name": "runbook", "prefix": "global"}
            shown |= {"labels": {"results": [label], "meta": {"hasMore": False}}}
        return Reply(body=shown)

    def _attachments(self, asked: Asked, page_id: str) -> Reply:
        plan = {"id": "att1", "status": "current", "title": "plan.pdf", "fileSize": 3_000_000}
        return Reply(body={"results": [{**plan, "pageId": page_id}], "_links": {}})

    def _search(self, asked: Asked) -> Reply:
        day = re.search(r'lastmodified >= "(\d{4}/\d\d/\d\d)"', asked.query["cql"])
        if day is None or "type = page" not in asked.query["cql"]:
            return Reply(status=400, body={"statusCode": 400, "message": "Could not parse cql"})
        since = datetime.strptime(day[1], "%Y/%m/%d").replace(tzinfo=UTC)
        shown = [
            {"content": {**_without_body(each), "type": "page"}, "entityType": "content"}
            for each in self.pages.values()
            if each["status"] == "current"
            and datetime.fromisoformat(each["version"]["createdAt"]) >= since
        ]
        for each in shown:
            del each["content"]["parentId"]  # type: ignore[attr-defined]
            if not self.expands:
                del each["content"]["version"]  # type: ignore[attr-defined]
        return self._listed(asked, shown)

    def _listed(self, asked: Asked, rows: list[Record]) -> Reply:
        at = int(asked.query.get("cursor", "c0")[1:])
        links = {"base": f"{self.url}/wiki"}
        if at + self.a_page < len(rows) or self.ring:
            query = {**asked.query, "cursor": f"c{0 if self.ring else at + self.a_page}"}
            links |= {"next": f"https://elsewhere.example{asked.path}?{urlencode(query)}"}
        return Reply(body={"results": rows[at : at + self.a_page], "_links": links})


def _without_body(page: Record) -> Record:
    return {name: value for name, value in page.items() if name != "_storage"} | {"body": {}}

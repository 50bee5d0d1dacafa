"""The API with sites, over a real database; the bucket is in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import httpx
from tests.support.forgetting import ErasableObjects, Tombstones, make_signing_key

from cairn.adapters.aws import erasing, objects
from cairn.bootstrap import forgetting
from cairn.forgetting.prove import Looked

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from uuid import UUID

    import pytest
    from fastapi import FastAPI

    from cairn.forgetting.prove import Needles

SITES_URL = "http://sites.localhost:8080"


class Bucket(ErasableObjects):
    """The bucket of uploads; `failing` puts are refused, `before_put` runs before each."""

    def look(self, workspace_id: UUID, needles: Needles) -> Iterable[Looked]:
        """Look into every object, as the proof does."""
        encoded = [item.encode() for item in needles.folded()]
        hits = sum(any(item in held.lower() for item in encoded) for held in self.held.values())
        return [Looked(store="uploads", place="sites/", items=len(self.held), found=hits)]


def hold_objects(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Bucket:
    """Let the API keep objects in memory, and forget with a signing key of its own."""
    make_signing_key(folder / "signing")
    bucket, tombstones = Bucket(), Tombstones()
    for module, name, store in (
        (objects, "S3Objects", bucket),
        (erasing, "S3Erasing", bucket),
        (forgetting, "S3Erasing", bucket),
        (forgetting, "S3Tombstones", tombstones),
        (forgetting, "S3Searcher", bucket.look),
    ):

        def opened(_: str, store: object = store) -> object:
            return store

        monkeypatch.setattr(module, name, opened)
    return bucket


def visit(app: FastAPI, url: str, method: str = "GET", **given: Any) -> httpx.Response:
    """Return what anybody gets at an address; redirects are not followed."""

    async def call() -> httpx.Response:
        transport = httpx.ASGITransport(app=app, client=("203.0.113.9", 4711))
        async with httpx.AsyncClient(transport=transport) as client:
            return await client.request(method, url, **given)

    return anyio.run(call)

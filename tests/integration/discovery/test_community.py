"""The community of the demo, over the API: who is found, what the agents say, both cards."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx
from tests.integration.storage import test_search_front

from benchmarks.demo import community
from cairn.cli.client import Client
from cairn.cli.deps import Deps

if TYPE_CHECKING:
    import pytest
    from tests.integration.storage.test_search_front import Door

door = test_search_front.door


class Through(httpx.BaseTransport):
    """Hands requests to an app in this process."""

    def __init__(self, app: Any) -> None:
        self.app = app

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await client.request(
                    request.method, request.url, content=request.read(), headers=request.headers
                )

        answer = asyncio.run(ask())
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)


def test_the_demos_community_finds_one_pair_and_shows_both_their_cards_again_and_again(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    deps = Deps()
    transport = Through(door.api.app)
    client = Client("http://test", door.world.key, sleep=lambda _: None, transport=transport)
    monkeypatch.setitem(deps.__dict__, "client", client)
    monkeypatch.setattr(community, "_embed", lambda _: door.enrich())
    first = community.community(deps)
    assert community.community_well(first), first
    again = community.community(deps)
    assert community.community_well(again), again
    assert (again["network_id"], again["negotiation"]["id"]) == (
        first["network_id"],
        first["negotiation"]["id"],
    )
    networks = client.get("/v1/networks", client_id="hedwig")["items"]
    assert len(networks) == 1
    community.show_community(deps, again)

"""A community written down: members with keys of their own, what they seek and offer, vectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg.types.json import Jsonb
from tests.support.embedding import HASHING, HashingEmbedder

from cairn.discovery.matching.searching import profile_of
from cairn.discovery.networks.members import Members
from cairn.kernel.access.system import system_principal
from cairn.kernel.ids import new_id
from cairn.writing.subjects import resolve
from cairn.writing.writer import Work, Writer

if TYPE_CHECKING:
    import httpx
    from tests.integration.storage.test_search_front import Door
    from tests.plugins.postgres import Database

    from cairn.writing.writer import Write


@dataclass
class Someone:
    """A member, the key that is bound to them, and their intents by name."""

    town: Town
    client: str
    id: UUID
    key: str
    intents: dict[str, UUID] = field(default_factory=dict[str, UUID])

    def ask(self, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.key}"}
        sent: dict[str, Any] = {"json": body} if body is not None else {}
        return self.town.door.api.answer(method, path, headers=headers, **sent, **more)

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        answer = self.ask(method, path, body, **more)
        assert answer.is_success, answer.text
        return answer.json()

    def refused(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        answer = self.ask(method, path, body)
        assert not answer.is_success, answer.text
        return answer.status_code, answer.json()["reason"]

    def discover(self, **body: Any) -> list[dict[str, Any]]:
        matches: list[dict[str, Any]] = self.call("POST", "/v1/discover", body)["matches"]
        return matches

    def mine(self, **query: Any) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.call("GET", "/v1/opportunities", params=query)["items"]
        return items


@dataclass
class Town:
    """Networks of a workspace, and who is in them."""

    door: Door
    database: Database
    networks: dict[str, UUID] = field(default_factory=dict[str, UUID])
    people: dict[str, Someone] = field(default_factory=dict[str, Someone])

    @property
    def workspace_id(self) -> UUID:
        return self.door.world.workspace_id

    @property
    def platform(self) -> Any:
        return self.door.api.app.state.services.platform

    def sql(self, statement: str, **given: Any) -> list[Any]:
        with self.database.connect_as_superuser() as root:
            cursor = root.execute(statement.encode(), given | {"w": self.workspace_id})
            return cursor.fetchall() if cursor.description else []

    def network(self, name: str) -> UUID:
        if name not in self.networks:
            self.networks[name] = new_id()
            self.sql(
                "INSERT INTO network (workspace_id, id, name, created_at, changed_at)"
                " VALUES (%(w)s, %(id)s, %(name)s, now(), now())",
                id=self.networks[name],
                name=name,
            )
        return self.networks[name]

    def join(self, client: str, *networks: str, profile: str = "", **fields: Any) -> Someone:
        """A member of networks, with a profile as they are shown by it."""
        principal = system_principal(self.workspace_id)

        def prepared() -> Work[UUID]:
            resolution = resolve(self.platform, principal, [("client", client)])

            def do(write: Write) -> UUID:
                return Members.ensure(write, client).id

            return Work(resolution=resolution, do=do, keep=lambda _: {}, read=lambda _: UUID(int=0))

        member_id = Writer(self.platform).write_once(principal, prepared, None)
        for name in networks:
            self.sql(
                "INSERT INTO network_member (workspace_id, network_id, member_id, joined_at)"
                " VALUES (%(w)s, %(n)s, %(m)s, now())",
                n=self.network(name),
                m=member_id,
            )
        body = {"role": "agent", "client_id": client, "scopes": ["shared"], "name": client}
        secret = self.door.api.call("POST", "/v1/keys", json=body)["secret"]
        someone = Someone(town=self, client=client, id=member_id, key=secret)
        self.people[client] = someone
        if profile:
            metadata = {"name": client.title(), **fields}
            self._node(profile_of(member_id), someone, "Member", None, profile, metadata)
        return someone

    def wish(self, client: str, side: str, text: str, *networks: str) -> UUID:
        """An intent of a member, assigned to networks of theirs."""
        someone, intent_id = self.people[client], new_id()
        self._node(intent_id, someone, "Intent", side, text, {})
        self.sql(
            "INSERT INTO intent (workspace_id, id, member_id, side, state, created_at, changed_at)"
            " VALUES (%(w)s, %(id)s, %(m)s, %(side)s, 'active', now(), now())",
            id=intent_id,
            m=someone.id,
            side=side,
        )
        for name in networks:
            self.sql(
                "INSERT INTO intent_network (workspace_id, network_id, intent_id, member_id, score,"
                " direct, assigned_at) VALUES (%(w)s, %(n)s, %(id)s, %(m)s, 1, true, now())",
                n=self.network(name),
                id=intent_id,
                m=someone.id,
            )
        someone.intents[text] = intent_id
        return intent_id

    def _node(
        self,
        node_id: UUID,
        someone: Someone,
        label: str,
        side: str | None,
        text: str,
        metadata: dict[str, Any],
    ) -> None:
        given = {"id": node_id, "label": label, "side": side, "text": text, "c": someone.client}
        self.sql(
            "INSERT INTO node (workspace_id, id, label, kind, text, content_hash, scope, client_id,"
            " data_subjects, metadata, state, occurred_at, valid_from, recorded_at, entry_id,"
            " created_position, position) VALUES (%(w)s, %(id)s, %(label)s, %(side)s,"
            " %(text)s, %(text)s, 'shared', %(c)s, ARRAY[%(m)s], %(meta)s, 'active', now(), now(),"
            " now(), %(id)s, 1, 1)",
            **given,
            m=someone.id,
            meta=Jsonb(metadata),
        )
        vector = HashingEmbedder().embed([text])[0]
        self.sql(
            "INSERT INTO embedding (workspace_id, node_id, model_id, v, position, label, kind,"
            " scope, client_id, state, occurred_at, valid_from) VALUES (%(w)s, %(id)s, %(model)s,"
            " %(v)s::halfvec, 1, %(label)s, %(side)s, 'shared', %(c)s, 'active', now(), now())",
            **given,
            model=HASHING.id,
            v="[" + ",".join(f"{value:.5f}" for value in vector) + "]",
        )

"""Two members of a network with an opportunity, their agents' keys, and what they say."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from cairn.discovery.matching.rows import (
    OpportunityRow,
    OpportunityState,
    OpportunityTrigger,
    Valency,
    pair_of,
)
from cairn.discovery.negotiation import signing
from cairn.discovery.negotiation.rows import Voice
from cairn.discovery.networks.members import Members
from cairn.kernel.access.system import system_principal
from cairn.kernel.ids import new_id
from cairn.writing.subjects import resolve
from cairn.writing.writer import Work, Writer

if TYPE_CHECKING:
    from tests.plugins.postgres import Database
    from tests.support.front import Front

    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write

ROLES = {"source": "patient", "candidate": "agent"}


@dataclass
class Member:
    """A member, and what speaks for them over HTTP."""

    scene: Scene
    client: str
    id: UUID
    key: str
    private: Ed25519PrivateKey | None = None

    @property
    def agent(self) -> str:
        return f"agent-of-{self.client}"

    def call(self, method: str, path: str, **given: Any) -> Any:
        headers = {"authorization": f"Bearer {self.key}"}
        response = self.scene.front.answer(method, path, headers=headers, **given)
        assert response.is_success, response.text
        return response.json()

    def refused(self, method: str, path: str, **given: Any) -> tuple[int, str]:
        headers = {"authorization": f"Bearer {self.key}"}
        response = self.scene.front.answer(method, path, headers=headers, **given)
        assert not response.is_success, response.text
        return response.status_code, response.json()["reason"]

    def here(self, **given: Any) -> Any:
        """Ask for a turn."""
        path = f"/v1/agents/{self.agent}/negotiations/pickup"
        return self.call("POST", path, json=given)["turn"]

    def seek(self, text: str, side: str) -> str:
        """Say what they seek or offer."""
        intent = {"text": text, "infer": False, "side": side}
        return self.call("POST", "/v1/intents", json=intent)["intents"][0]["id"]

    def register(self) -> str:
        """Give a public key; the private one stays here."""
        self.private = Ed25519PrivateKey.generate()
        public_key = signing.public_bytes(self.private).hex()
        path = f"/v1/agents/{self.agent}/negotiations/key"
        return self.call("PUT", path, json={"public_key": public_key})["key_id"]

    def turn(self, action: str, message: str, **more: Any) -> dict[str, Any]:
        return {"action": action, "message": message, "suggested_roles": ROLES, **more}

    def signed(self, picked: Any, action: str, message: str) -> dict[str, Any]:
        """Sign a turn as an outside agent does, with what picking it up said."""
        assert self.private is not None
        salt = bytes(range(32))
        header = signing.header(
            UUID(picked["negotiation"]["id"]),
            seq=picked["seq"],
            speaker=picked["negotiation"]["side"],
            previous=bytes.fromhex(picked["previous"]),
            voice=Voice.AGENT,
            public_key=signing.public_bytes(self.private),
            move=action,
            commitment=signing.commitment(salt, message),
            roles=("patient", "agent"),
            fit=None,
        )
        signature = self.private.sign(header).hex()
        claim = {"claim": picked["claim"], "salt": salt.hex(), "signature": signature}
        return self.turn(action, message, **claim)

    def say(self, negotiation_id: str, action: str, message: str, **more: Any) -> Any:
        return self.call("POST", self.path(negotiation_id), json=self.turn(action, message, **more))

    def path(self, negotiation_id: str) -> str:
        return f"/v1/agents/{self.agent}/negotiations/{negotiation_id}/respond"


@dataclass
class Scene:
    """A network in a workspace, with its members."""

    front: Front
    database: Database
    workspace_id: UUID
    network_id: UUID = field(default_factory=new_id)

    @property
    def platform(self) -> Platform:
        return self.front.app.state.services.platform

    def sql(self, statement: str, **given: Any) -> list[Any]:
        """Do what whoever has the disk can do."""
        with self.database.connect_as_superuser() as root:
            cursor = root.execute(statement.encode(), given | {"w": self.workspace_id})
            return cursor.fetchall() if cursor.description else []

    def open(self) -> None:
        self.sql(
            "INSERT INTO network (workspace_id, id, name, created_at, changed_at)"
            " VALUES (%(w)s, %(id)s, 'harbour', now(), now())",
            id=self.network_id,
        )

    def join(self, client: str) -> Member:
        """A member of the network, with a key that is bound to them."""
        principal, owner = system_principal(self.workspace_id), ("client", client)

        def prepared() -> Work[UUID]:
            resolution = resolve(self.platform, principal, [owner])

            def do(write: Write) -> UUID:
                return Members.ensure(write, client).id

            return Work(resolution=resolution, do=do, keep=lambda _: {}, read=lambda _: UUID(int=0))

        member_id = Writer(self.platform).write_once(principal, prepared, None)
        self.sql(
            "INSERT INTO network_member (workspace_id, network_id, member_id, joined_at)"
            " VALUES (%(w)s, %(n)s, %(m)s, now())",
            n=self.network_id,
            m=member_id,
        )
        key = {"role": "agent", "client_id": client, "scopes": ["shared"], "name": client}
        secret = self.front.call("POST", "/v1/keys", json=key)["secret"]
        return Member(scene=self, client=client, id=member_id, key=secret)

    def meet(
        self, source: Member, target: Member, score: int = 90, intents: tuple[str, ...] = ()
    ) -> UUID:
        """Two who should meet, as discovery persists it."""
        subjects = tuple(sorted((source.id, target.id)))
        row_id, now = new_id(), self.platform.clock()
        keys = self.platform.keys.get_or_create(self.workspace_id, subjects)
        row = OpportunityRow(
            id=row_id,
            pair=pair_of(source.id, None, target.id, row_id),
            network_id=self.network_id,
            source_id=source.id,
            target_id=target.id,
            introducer_id=None,
            source_intent=UUID(intents[0]) if intents else None,
            target_intent=UUID(intents[1]) if intents else None,
            source_role=Valency.PATIENT,
            target_role=Valency.AGENT,
            score=score,
            trigger=OpportunityTrigger.AMBIENT,
            state=OpportunityState.LATENT,
            data_subjects=subjects,
            body=self.platform.cipher.seal(row_id, self.workspace_id, keys, {"reason": "r"}),
            created_at=now,
            changed_at=now,
            expires_at=now + timedelta(days=7),
        )
        with self.platform.transactions.writing(system_principal(self.workspace_id)) as stores:
            assert stores.opportunities.add(row, None, 1)
        return row_id

    def state_of(self, opportunity_id: UUID) -> str:
        statement = "SELECT state FROM opportunity WHERE workspace_id = %(w)s AND id = %(id)s"
        return self.sql(statement, id=opportunity_id)[0][0]

    def let_time_pass(self, negotiation_id: str) -> None:
        """Let what a negotiation waits for be over."""
        self.sql(
            "UPDATE negotiation SET deadline = now() - interval '1 second'"
            " WHERE workspace_id = %(w)s AND id = %(id)s",
            id=negotiation_id,
        )


def scene_of(front: Front, database: Database) -> Scene:
    """A scene in the workspace of a front's key."""
    workspace_id = UUID(front.call("GET", "/v1/whoami")["workspace_id"])
    scene = Scene(front=front, database=database, workspace_id=workspace_id)
    scene.open()
    return scene

"""How a deed of networks is written: once, by a member who has a row, or by an admin for nobody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.discovery.networks.acting import acting
from cairn.discovery.networks.members import Members
from cairn.kernel.access import Role
from cairn.kernel.errors import Denied, NotFound
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.scrub import scrub
from cairn.writing.subjects import resolve
from cairn.writing.writer import Work, Writer

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from cairn.discovery.networks.rows import MemberRow, NetworkRow
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.items import IdempotencyKey
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write

MOST_NAME_CHARS = 200
MOST_PROMPT_CHARS = 4_000


def confined(principal: Principal, client_id: str | None) -> Principal:
    """Return who does it: the member, or the admin where none is named."""
    if principal.client_id is None and client_id is None and principal.role is Role.ADMIN:
        return principal
    return acting(principal, client_id)


@dataclass(frozen=True, slots=True)
class Deed:
    """A deed under way. `member` does it; None: an admin does."""

    write: Write
    member: MemberRow | None

    def owned(self, network_id: UUID) -> NetworkRow:
        """Return a network that who does this owns; NotFound or Denied (`owner`)."""
        network = visible(self.write.stores, network_id)
        if self.member is not None and network.owner_id != self.member.id:
            raise Denied("Only the owner of a network may do this.", reason="owner")
        return network

    def note(self, type_: str, network_id: UUID, body: Any = None, **meta: Any) -> None:
        """Plan an entry about a network: a member's own when their words are in it."""
        member = meta.get("member_id")
        about = (member,) if member is not None else ()
        ids = {name: None if value is None else str(value) for name, value in meta.items()}
        self.write.entries.add(
            type_,
            {"network_id": str(network_id), **ids},
            body,
            data_subjects=about,
            occurred_at=self.write.now,
        )


def done(
    platform: Platform,
    principal: Principal,
    do: Callable[[Deed], UUID],
    idempotency: IdempotencyKey | None = None,
    others: tuple[UUID, ...] = (),
) -> UUID:
    """Do it in one transaction and return an id, or the one it gave the first time."""
    client_id = principal.client_id

    def prepare() -> Work[UUID]:
        from uuid import UUID as Id

        owners = [("client", client_id)] if client_id is not None else []

        def write(write: Write) -> UUID:
            member = Members.ensure(write, client_id) if client_id is not None else None
            return do(Deed(write, member))

        return Work(
            resolution=resolve(platform, principal, owners, others),
            do=write,
            keep=lambda result: {"id": str(result)},
            read=lambda answer: Id(answer["id"]),
        )

    return Writer(platform).write_once(principal, prepare, idempotency)


def visible(stores: Stores, network_id: UUID) -> NetworkRow:
    """Return a network that the principal may see; NotFound without it."""
    network = stores.networks.find(network_id)
    if network is None:
        raise missing(network_id)
    return network


def missing(network_id: UUID) -> NotFound:
    """Return the refusal of a network that there is not, or that is not shown."""
    return NotFound("There is no such network.", network_id=str(network_id))


def clean_network_name(name: str) -> str:
    """Return a network's name without secrets, in one line."""
    text = clean_text(name, field="name", max_chars=MOST_NAME_CHARS)
    return scrub(" ".join(text.split())).text[:MOST_NAME_CHARS]


def clean_prompt(prompt: str) -> str:
    """Return a prompt without secrets; it may be empty."""
    if not prompt.strip():
        return ""
    text = clean_text(prompt, field="prompt", max_chars=MOST_PROMPT_CHARS)
    return scrub(text.strip()).text[:MOST_PROMPT_CHARS]

"""People around investigations: who is called, who judges, who decides what is learned."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from tests.support.ingesting import Documents

from cairn.investigations.browse import BrowseInvestigations
from cairn.investigations.journal import Opener
from cairn.investigations.people.bundle import Escalations
from cairn.investigations.people.candidates import Candidates
from cairn.investigations.people.delivering import Channels, DeliverEscalation
from cairn.investigations.people.learning import Opinions, StageCandidates
from cairn.investigations.ports import CandidateState
from cairn.investigations.run.closing import QueueEscalation
from cairn.investigations.state import Verdict
from cairn.ledger.keys import BodyCipher
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Mapping
    from uuid import UUID

    from tests.fakes.keys import InMemoryKeyStore
    from tests.support.agent import Agents

    from cairn.investigations.ports import Escalation
    from cairn.investigations.views import CandidateView
    from cairn.kernel.access import Principal
    from cairn.ledger.entry import Entry


@dataclass
class FakeSender:
    """Posts that are kept; `answers` are statuses or errors, the last one again and again."""

    answers: list[int | Exception] = field(default_factory=lambda: [200])
    posts: list[tuple[str, bytes, Mapping[str, str]]] = field(
        default_factory=list["tuple[str, bytes, Mapping[str, str]]"]
    )

    def check(self, url: str) -> None:
        """Every address is fine."""

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        self.posts.append((url, body, headers))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Seeing:
    """Transactions over fakes that show the ledger by position, too."""

    def __init__(self, agents: Agents) -> None:
        self._agents = agents

    @contextmanager
    def reading(self, principal: Principal, *, timeout_ms: int | None = None) -> Generator[Any]:
        with self._agents.transactions.reading(principal) as stores:
            yield _WithEntries(stores)

    writing = reading


class _WithEntries:
    def __init__(self, stores: Any) -> None:
        self._stores = stores

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stores, name)

    @property
    def entries(self) -> _WithEntries:
        return self

    def at(self, positions: Collection[int]) -> list[Entry]:
        every = self._stores.ledger.page(after=0, limit=10_000)
        return [item for item in every if item.position in positions]


@dataclass
class People:
    """The people of a world of agents, over its stores."""

    agents: Agents
    seeing: Any
    sender: FakeSender = field(default_factory=FakeSender)
    document_transactions: Any = None

    def __post_init__(self) -> None:
        made = self.agents
        self.queue = QueueEscalation(journal=made.journal, desk=made.desk)
        self.deliver = DeliverEscalation(
            journal=made.journal, desk=made.desk, hiding=made.hiding, sender=self.sender
        )
        self.browse = BrowseInvestigations(
            transactions=self.seeing, open=Opener(keys=made.keys, cipher=BodyCipher())
        )
        self.escalations = Escalations(journal=made.journal, browse=self.browse)
        self.channels = Channels(journal=made.journal, check=self.sender.check)
        self.stage = StageCandidates(journal=made.journal)
        self.opinions = Opinions(journal=made.journal, stage=self.stage)
        self.documents = Documents(
            transactions=self.document_transactions or made.transactions,
            principal=made.admin,
            keys=cast("InMemoryKeyStore", made.keys),
        )
        self.candidates = Candidates(
            journal=made.journal, desk=made.desk, ingest=self.documents.accept
        )

    def call(self, one: UUID) -> str:
        """Deliver the call of an investigation as the queue would."""
        row = [row for row in self.agents.woken(Topic.ESCALATION) if row.reference == one][-1]
        return self.deliver(self.agents.workspace_id, one, row.id)

    def called(self, one: UUID) -> Escalation:
        """The call as it is kept."""
        with self.agents.transactions.reading(self.agents.admin) as stores:
            found = stores.escalations.of(one)
        assert found is not None
        return found

    def resolved(self, body: str = "I am ada@acme.test.", **ticket: Any) -> UUID:
        """An investigation that resolved its ticket by itself."""
        one = self.agents.begin(body, **ticket)
        self.agents.work(one)
        found = self.agents.found_(one)
        assert (found.verdict, found.ended_at is None) == (Verdict.AUTO_RESOLVED, False)
        return one

    def staged(self) -> list[CandidateView]:
        """What waits in the review queue, the oldest first."""
        found = self.candidates.page(self.agents.admin, state=CandidateState.STAGED)
        return list(reversed(found))

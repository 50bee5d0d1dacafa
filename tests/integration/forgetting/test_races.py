"""Forgetting while others write: what comes too late is refused, and nothing is left behind."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Barrier
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.fakes.keys import InMemoryKeyStore
from tests.support.embedding import HashingEmbedder
from tests.support.forgetting import CANARY, Stand, open_stand

from cairn.adapters.postgres.database import Database as Pool
from cairn.forgetting.forget import Target
from cairn.forgetting.ports import Reason
from cairn.kernel.errors import CairnError, Conflict, NotFound
from cairn.ledger.keys import SubjectForgotten

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

    from cairn.embedding.port import Vectors


@dataclass
class KeysThen(InMemoryKeyStore):
    """A key store after whose answer something happens, once."""

    then: list[Callable[[], object]] = field(default_factory=list[Callable[[], object]])

    def __post_init__(self) -> None:
        super().__init__()

    def get_or_create(
        self, workspace_id: UUID, subject_ids: Collection[UUID]
    ) -> Mapping[UUID, bytes]:
        found = super().get_or_create(workspace_id, subject_ids)
        if self.then and len(set(subject_ids)) > 1:
            self.then.pop()()
        return found


@pytest.fixture
def pool(database: "Database") -> Iterator[Pool]:
    pool = Pool(database.app_url, size=8)
    yield pool
    pool.close()


@pytest.fixture
def stand(database: "Database", pool: Pool) -> Stand:
    return open_stand(database, pool, keys=KeysThen())


def test_a_memory_whose_keys_were_found_before_is_refused(stand: Stand) -> None:
    stand.tell("first")
    done: list[Any] = []
    stand.keys.then.append(lambda: done.append(stand.forgets()))
    with pytest.raises(SubjectForgotten) as refused:
        stand.tell(f"{CANARY} came too late")
    assert refused.value.code == "subject-forgotten"
    assert isinstance(refused.value, Conflict)
    assert stand.proof(done[0]).clean


def test_what_is_being_embedded_leaves_nothing(stand: Stand) -> None:
    stand.tell(f"{CANARY} runs Redis and PostgreSQL")
    done: list[Any] = []

    class Forgetting(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> "Vectors":
            if not done:
                done.append(stand.forgets())
            return super().embed(texts)

    enrich = stand.enrich()
    object.__setattr__(enrich, "embedder", Forgetting())
    rows = [row.id for row in stand.system.sent.rows]
    # the outbox row went with the nodes, or the write is refused: either leaves nothing
    try:
        enrich.rows(stand.workspace_id, rows)
    except CairnError as error:
        assert isinstance(error, SubjectForgotten)
    assert enrich.rows(stand.workspace_id, rows) == 0
    assert stand.proof(done[0]).clean


def test_a_document_on_its_way_through_the_machine_does_not_come_back(stand: Stand) -> None:
    source = f"https://example.org/{CANARY}.md"
    accepted = stand.documents.send(f"# {CANARY}\n\nA text.", source_uri=source)
    ids = stand.workspace_id, accepted.ingestion_id
    stand.documents.steps.parse(*ids)
    stand.documents.steps.chunk(*ids)
    done = stand.forget(stand.principal, Target(source=source), Reason.REQUEST)
    with pytest.raises((NotFound, SubjectForgotten)):
        stand.documents.steps.store(*ids)
    assert not [key for key in stand.objects.held if str(accepted.ingestion_id) in key]
    assert stand.proof(done).clean


def test_two_forgettings_at_once_are_one(stand: Stand) -> None:
    stand.tell("one")
    start = Barrier(4)

    def forget(_: int) -> Any:
        start.wait()
        return stand.forgets().forgetting

    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(forget, range(4)))
    assert len({item.id for item in done}) == 1
    assert {item.status for item in done} == {"done"}
    with stand.forget_stores.reading(stand.principal) as stores:
        types = [item.type for item in stores.ledger.page(after=0, limit=1000)]
    assert types.count("subject.forgotten") == 1


def test_writers_at_once_leave_nothing_of_whom_was_forgotten(stand: Stand) -> None:
    stand.tell(f"{CANARY} before")
    start = Barrier(5)

    def write(number: int) -> None:
        start.wait()
        for each in range(5):
            try:
                stand.tell(f"said {number} {each}")
            except Conflict:
                continue

    def forget() -> Any:
        start.wait()
        return stand.forgets()

    with ThreadPoolExecutor(5) as threads:
        done = threads.submit(forget)
        list(threads.map(write, range(4)))
        forgotten = done.result()
    with stand.forget_stores.writing(stand.principal) as stores:
        assert stores.forgetting.doomed(forgotten.forgetting.subject_id, ()).node_ids == ()
        entries = stores.ledger.page(after=forgotten.forgetting.position, limit=1000)
    assert not [
        entry for entry in entries if forgotten.forgetting.subject_id in entry.data_subjects
    ]
    assert stand.proof(forgotten).clean

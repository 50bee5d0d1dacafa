"""Uploads that become documents: what is announced, what came, once and in time; on both stores."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.support.embedding import HASHING, HashingEmbedder
from tests.support.ingesting import Documents
from tests.support.remembering import NOON, admin_of

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.documents.accept import AcceptDocument
from cairn.documents.ports import DocumentAccepted, NewDocument
from cairn.documents.uploads import CreateUpload, upload_key
from cairn.kernel.access import Scope
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import CairnError, Conflict, NotFound, TooLarge, ValidationFailed
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

MODEL = replace(HASHING, id=1)
TEXT = b"# Tides\n\nThe tide turns at noon.\n"
TIDES = {"source_uri": "file:///tides.md", "client_id": "global", "scope": Scope.ADMIN}


class Uploading(Documents):
    """Announces, puts and names uploads, at a time that a test moves."""

    now: datetime = NOON

    def clock(self) -> datetime:
        return self.now

    def announce(self, size: int = len(TEXT), **more: Any) -> UUID:
        create = CreateUpload(
            transactions=self.transactions, objects=self.objects, clock=self.clock, new_id=new_id
        )
        return create(more.pop("by", self.principal), size=size, **more).upload_id

    def put(self, upload_id: UUID, content: bytes = TEXT) -> UUID:
        self.objects.put(upload_key(self.workspace_id, upload_id), content)
        return upload_id

    def name(self, upload_id: UUID, **changes: Any) -> DocumentAccepted:
        platform = replace(self.accept.platform, clock=self.clock)
        by = changes.pop("by", self.principal)
        accept = AcceptDocument(platform, objects=self.objects)
        return accept(by, NewDocument(upload_id=upload_id, **TIDES | changes))


@pytest.fixture(params=["in memory", "postgres"])
def system(request: pytest.FixtureRequest) -> Iterator[Uploading]:
    if request.param == "in memory":
        yield Uploading(embedder=HashingEmbedder(MODEL))
        return
    database: Database = request.getfixturevalue("database")
    name = f"uploads-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=4)
    yield Uploading(
        transactions=StoreTransactions(pool),
        principal=admin_of(workspace_id),
        embedder=HashingEmbedder(MODEL),
    )
    pool.close()


def refusal(error: type[CairnError], act: Any, *given: Any, **more: Any) -> str:
    with pytest.raises(error) as caught:
        act(*given, **more)
    return caught.value.reason


def test_an_upload_becomes_one_document_whoever_often_it_is_named(system: Uploading) -> None:
    upload = system.put(system.announce(media_type="text/markdown"))
    first = system.name(upload)
    system.run(first)  # its bytes are gone now
    again = system.name(upload)
    assert (again.document_id, again.ingestion_id) == (first.document_id, first.ingestion_id)
    assert again.replayed
    other = {"source_uri": "file:///other.md"}
    assert refusal(Conflict, system.name, upload, **other) == "upload-used"


def test_sixteen_that_name_an_upload_at_once_make_one_document(system: Uploading) -> None:
    upload = system.put(system.announce())
    with ThreadPoolExecutor(16) as pool:
        made = list(pool.map(lambda _: system.name(upload), range(16)))
    assert len({each.ingestion_id for each in made}) == 1
    assert sum(not each.replayed for each in made) == 1


def test_nobody_names_the_upload_of_another_key_or_workspace(system: Uploading) -> None:
    upload = system.put(system.announce())
    colleague = replace(system.principal, principal_id=new_id())
    for by in (colleague, admin_of(new_id())):
        if isinstance(system.transactions, StoreTransactions) or by is colleague:
            refusal(NotFound, system.name, upload, by=by)
    used = system.name(upload)
    refusal(NotFound, system.name, upload, by=colleague)
    assert system.name(upload).document_id == used.document_id


def test_what_came_is_held_to_what_was_announced(system: Uploading) -> None:
    missing = system.announce()
    assert refusal(NotFound, system.name, missing) == "not-uploaded"
    shorter = system.put(system.announce(size=5))
    assert refusal(ValidationFailed, system.name, shorter) == "upload-size"
    page = b"<!doctype html><html><body>No PDF</body></html>"
    liar = system.put(system.announce(len(page), media_type="application/pdf"), page)
    assert refusal(ValidationFailed, system.name, liar) == "media-type-mismatch"
    picture = b"\x89PNG\r\n\x1a\n" + bytes(20)
    drawn = system.put(system.announce(len(picture)), picture)
    assert refusal(ValidationFailed, system.name, drawn) == "media-type-mismatch"
    for media_type in ("image/png", "image/svg+xml", "application/zip"):
        reason = refusal(ValidationFailed, system.announce, media_type=media_type)
        assert reason == "unsupported-media-type"


def test_only_a_pdf_may_have_50_megabytes(system: Uploading) -> None:
    system.announce(50_000_000, media_type="application/pdf")
    system.announce(50_000_000)  # its name will tell
    for size, kind in ((50_000_001, "application/pdf"), (50_000_001, None), (20_000_001, "a/b")):
        media_type = "text/plain" if kind == "a/b" else kind
        refusal(TooLarge, system.announce, size, media_type=media_type)
    text = system.put(system.announce(20_000_001), bytes(20_000_001))
    refusal(TooLarge, system.name, text)


def test_an_upload_that_is_late_is_refused_and_one_that_nobody_named_goes(
    system: Uploading,
) -> None:
    upload = system.put(system.announce())
    system.now = NOON + timedelta(days=1, minutes=16)
    assert refusal(Conflict, system.name, upload) == "upload-expired"
    system.announce()
    assert system.objects.size(upload_key(system.workspace_id, upload)) is not None
    system.now = NOON + timedelta(days=7, minutes=16)
    system.announce()
    assert system.objects.size(upload_key(system.workspace_id, upload)) is None
    refusal(NotFound, system.name, upload)

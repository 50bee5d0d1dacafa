"""Objects of a bucket become documents: over the emulated S3, as the laptop has it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.sourcing import Sourcing, open_sourcing, serving

from cairn.adapters.aws.clients import aws_client
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.sources import bucket as reading
from cairn.adapters.sources.opening import OpenSource
from cairn.kernel.errors import CairnError, NotFound, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.sources.reader import Limits
from cairn.sources.source import KnowledgeKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.plugins.cloud import EmptyCloud
    from tests.plugins.postgres import Database

    from cairn.sources.reader import Item, Reader


@contextmanager
def at(environment: Mapping[str, str]) -> Iterator[None]:
    """Let clients of AWS be made for this environment, and none of it stay."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        aws_client.cache_clear()
        yield
    aws_client.cache_clear()


@pytest.fixture
def s3(cloud: EmptyCloud) -> Iterator[Any]:
    with at(cloud.emulator.endpoint.env()):
        yield cloud.client("s3")


@pytest.fixture
def bucket(s3: Any) -> str:
    name = f"manuals-{new_id().hex[-12:]}"
    s3.create_bucket(Bucket=name)
    return name


@pytest.fixture
def desk(database: Database, bucket: str) -> Iterator[Sourcing]:
    pool = Pool(database.app_url, size=4)
    yield open_sourcing(database, pool, buckets=frozenset({bucket}))
    pool.close()


def put(s3: Any, bucket: str, **texts: str) -> None:
    for name, text in texts.items():
        key = name.replace("__", "/") + ".md"
        s3.put_object(Bucket=bucket, Key=key, Body=text.encode())


def reader(bucket: str, **config: Any) -> Reader:
    opened = OpenSource(buckets=frozenset({bucket}))
    limits = Limits(items=100, bytes=10**6)
    return opened(KnowledgeKind.BUCKET, {"bucket": bucket, **config}, {}, limits)


def items(bucket: str, **config: Any) -> list[Item]:
    opened, cursor = reader(bucket, **config), None
    listed: list[Item] = []
    while True:
        page = opened.page(cursor, lambda _: {})
        listed += page.items
        cursor = page.cursor
        if cursor is None:
            return listed


def test_objects_become_documents_and_what_changes_and_goes_follows(
    desk: Sourcing, s3: Any, bucket: str
) -> None:
    put(s3, bucket, ships__dns="# DNS\n\nAsk Ada.", ships__pager="# Pager", other__not="# Not")
    source = desk.work(desk.add("bucket", config={"bucket": bucket, "prefix": "ships/"}))
    desk.read()
    assert (source.error, source.documents) == (None, 2)
    before = desk.documents()
    assert before.keys() == {"source://runbooks/dns.md", "source://runbooks/pager.md"}

    same = desk.sync(source)
    assert same.last_sync is not None
    assert (same.last_sync.unchanged, desk.accepted) == (2, [])

    put(s3, bucket, ships__dns="# DNS\n\nAsk Grace.", ships__new="# New")
    s3.delete_object(Bucket=bucket, Key="ships/pager.md")
    foreseen = desk.preview(source)
    assert foreseen.last_preview is not None
    assert [(each["what"], each["key"]) for each in foreseen.last_preview.changes] == [
        ("changed", "dns.md"),
        ("new", "new.md"),
        ("gone", "pager.md"),
    ]
    done = desk.sync(source)
    desk.read()
    assert done.last_sync is not None
    assert (done.last_sync.new, done.last_sync.changed, done.last_sync.gone) == (1, 1, 1)
    after = desk.documents()
    assert after.keys() == {"source://runbooks/dns.md", "source://runbooks/new.md"}
    assert after["source://runbooks/dns.md"] == before["source://runbooks/dns.md"]


def test_a_bucket_that_the_owner_does_not_name_is_refused_when_added_and_when_read(
    desk: Sourcing, bucket: str
) -> None:
    for config in ({"bucket": "another-bucket"}, {"bucket": "No"}, {"bucket": bucket, "more": 1}):
        with pytest.raises(ValidationFailed):
            desk.add("bucket", config=config)
    opened = OpenSource()(KnowledgeKind.BUCKET, {"bucket": bucket}, {}, Limits(items=1, bytes=1))
    with pytest.raises(ValidationFailed, match="CAIRN_SOURCE_BUCKETS"):
        opened.page(None, lambda _: {})


def test_keys_are_listed_page_by_page_and_odd_ones_are_refused(
    s3: Any, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "A_PAGE", 2)
    put(s3, bucket, a="# A", b="# B", docs__c="# C", old__d="# D")
    for key in ("docs/", "x/../up.md", "picture.png", ".hidden.md"):
        s3.put_object(Bucket=bucket, Key=key, Body=b"# Odd")
    listed = {item.key: item for item in items(bucket, exclude=["old/"])}
    assert [key for key, item in listed.items() if item.load] == ["a.md", "b.md", "docs/c.md"]
    assert {key: item.refused for key, item in listed.items() if item.refused} == {
        "x/../up.md": "unreadable-name"
    }
    assert [key for key, item in listed.items() if item.skipped] == ["picture.png"]
    monkeypatch.setattr(reading, "MOST_PATHS", 3)
    with pytest.raises(CairnError, match="more than 3 keys"):
        items(bucket)


def test_an_object_that_goes_after_it_was_listed_is_its_own_fault(s3: Any, bucket: str) -> None:
    put(s3, bucket, a="# A")
    [item] = items(bucket)
    s3.delete_object(Bucket=bucket, Key="a.md")
    assert item.load is not None
    with pytest.raises(NotFound):
        item.load()


def test_a_bucket_that_is_gone_is_an_error_and_deletes_nothing(
    desk: Sourcing, s3: Any, bucket: str
) -> None:
    put(s3, bucket, a="# A")
    source = desk.work(desk.add("bucket", config={"bucket": bucket}))
    s3.delete_object(Bucket=bucket, Key="a.md")
    s3.delete_bucket(Bucket=bucket)
    failed = desk.sync(source)
    assert (failed.error, failed.documents) == ("no-such-bucket", 1)


@pytest.mark.parametrize(
    ("status", "code", "why"),
    [
        ("403 Forbidden", "AccessDenied", "bucket-denied"),
        ("404 Not Found", "NoSuchBucket", "no-such-bucket"),
        ("400 Bad Request", "IllegalLocationConstraintException", "bucket-region"),
        ("400 Bad Request", "Whatever", "unreachable"),
    ],
)
def test_what_a_bucket_refuses_is_said(status: str, code: str, why: str) -> None:
    def app(_: Any, start: Any) -> list[bytes]:
        start(status, [("Content-Type", "application/xml")])
        return [f"<Error><Code>{code}</Code><Message>No.</Message></Error>".encode()]

    keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1"}
    with (
        serving(app) as url,
        at({"AWS_ENDPOINT_URL": url, "AWS_DEFAULT_REGION": "us-east-1", **keys}),
        pytest.raises(CairnError) as refused,
    ):
        items("manuals")
    assert refused.value.reason == why

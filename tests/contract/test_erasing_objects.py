"""Every version of an object is deleted, read and searched: over emulated S3, versioned and not."""

from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest
from tests.plugins.cloud import EmptyCloud

from cairn.adapters.aws import erasing
from cairn.adapters.aws.erasing import S3Erasing, S3Searcher, S3Tombstones
from cairn.forgetting.prove import Needles

WORKSPACE = UUID(int=7)


@pytest.fixture(params=["versioned", "plain"])
def bucket(
    request: pytest.FixtureRequest, cloud: EmptyCloud, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    client, name = cloud.client("s3"), f"erasing-{uuid4().hex[:12]}"
    client.create_bucket(Bucket=name)
    if request.param == "versioned":
        client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    monkeypatch.setattr(erasing, "aws_client", {"s3": client}.__getitem__)
    yield name
    client.close()


def put(cloud: EmptyCloud, bucket: str, key: str, *contents: bytes) -> None:
    client = cloud.client("s3")
    for content in contents:
        client.put_object(Bucket=bucket, Key=key, Body=content)
    client.close()


def test_all_below_a_prefix_goes_and_nothing_else(bucket: str, cloud: EmptyCloud) -> None:
    for name in ("parsed", "tree"):
        put(cloud, bucket, f"ingestions/{WORKSPACE}/1/{name}", b"Canary", b"later")
    put(cloud, bucket, f"ingestions/{WORKSPACE}/2/tree", b"other")
    search, needles = S3Searcher(bucket), Needles(texts=("CANARY",))
    before = {item.place: item.found for item in search(WORKSPACE, needles)}
    assert before["uploads/"] == 0
    assert S3Erasing(bucket).erase(f"ingestions/{WORKSPACE}/1/") >= 2
    after = {item.place: (item.items, item.found) for item in search(WORKSPACE, needles)}
    assert after == {"ingestions/": (1, 0), "sites/": (0, 0), "uploads/": (0, 0)}
    assert S3Erasing(bucket).erase(f"ingestions/{WORKSPACE}/1/") == 0


def test_an_older_version_and_one_that_was_deleted_are_found(
    bucket: str, cloud: EmptyCloud, request: pytest.FixtureRequest
) -> None:
    key = f"uploads/{WORKSPACE}/1"
    put(cloud, bucket, key, b"a canary", b"later")
    versioned = "versioned" in request.node.name
    client = cloud.client("s3")
    client.delete_object(Bucket=bucket, Key=key)
    client.close()
    looked = {
        item.place: item for item in S3Searcher(bucket)(WORKSPACE, Needles(texts=("Canary",)))
    }
    assert looked["uploads/"].found == (1 if versioned else 0)
    S3Erasing(bucket).erase(key)
    again = {item.place: item for item in S3Searcher(bucket)(WORKSPACE, Needles(texts=("Canary",)))}
    assert again["uploads/"].items == 0


def test_another_workspaces_objects_are_not_looked_at(bucket: str, cloud: EmptyCloud) -> None:
    put(cloud, bucket, f"uploads/{UUID(int=8)}/1", b"a canary")
    assert not any(item.items for item in S3Searcher(bucket)(WORKSPACE, Needles(texts=("canary",))))


def test_tombstones_are_read_in_every_version(bucket: str, request: pytest.FixtureRequest) -> None:
    store, key = S3Tombstones(bucket), f"tombstones/{WORKSPACE}/1.json"
    for content in (b"first", b"second"):
        store.put(key, content)
    found = [content for _, content in store.versions(f"tombstones/{WORKSPACE}/")]
    versioned = "versioned" in request.node.name
    assert sorted(found) == ([b"first", b"second"] if versioned else [b"second"])

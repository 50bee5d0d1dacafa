"""One contract for the places anchors are kept in: a dict, and S3 with Object Lock (emulated)."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from tests.fakes.anchors import InMemoryAnchors
from tests.plugins.cloud import EmptyCloud

from cairn.adapters.aws import anchors as aws_anchors
from cairn.adapters.aws.anchors import S3Anchors
from cairn.anchors.anchors import AnchorStore
from cairn.kernel.errors import NotFound

pytestmark = pytest.mark.xdist_group("emulator")

BUCKET = f"anchors-{uuid4().hex[:8]}"


@pytest.fixture(scope="module")
def bucket(cloud: EmptyCloud) -> str:
    """A bucket that locks what is put into it for a day, as the data stack's does for a year."""
    s3 = cloud.client("s3")
    s3.create_bucket(Bucket=BUCKET, ObjectLockEnabledForBucket=True)
    s3.put_object_lock_configuration(
        Bucket=BUCKET,
        ObjectLockConfiguration={
            "ObjectLockEnabled": "Enabled",
            "Rule": {"DefaultRetention": {"Mode": "COMPLIANCE", "Days": 1}},
        },
    )
    return BUCKET


@pytest.fixture(params=["memory", "s3"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[AnchorStore]:
    if request.param == "memory":
        yield InMemoryAnchors()
        return
    cloud: EmptyCloud = request.getfixturevalue("cloud")
    bucket: str = request.getfixturevalue("bucket")
    client = cloud.client("s3")
    monkeypatch.setattr(aws_anchors, "aws_client", lambda _: client)
    yield S3Anchors(bucket)
    client.close()


def test_what_was_put_is_read_in_the_order_asked_for(store: AnchorStore) -> None:
    prefix = f"heads/{uuid4()}/"
    keys = [f"{prefix}{number:010d}-2026-03-20T09:30:00.000000Z.json" for number in range(12)]
    for key in reversed(keys):
        store.put(key, key.encode())
    assert store.keys(prefix) == keys
    backwards = list(reversed(keys))
    assert store.read(backwards) == [key.encode() for key in backwards]


def test_the_folders_below_a_prefix_are_listed_once_each(store: AnchorStore) -> None:
    prefix = f"heads{uuid4()}/"
    for folder in ("b", "a"):
        for number in range(3):
            store.put(f"{prefix}{folder}/{number}.json", b"x")
    store.put(f"{prefix}beside.json", b"x")
    assert store.folders(prefix) == ["a", "b"]


def test_one_and_no_keys_are_read_too(store: AnchorStore) -> None:
    prefix = f"heads/{uuid4()}/"
    store.put(f"{prefix}a", b"one")
    assert store.read([f"{prefix}a"]) == [b"one"]
    assert store.read([]) == []


def test_other_prefixes_keys_are_left_out(store: AnchorStore) -> None:
    store.put(f"heads/{uuid4()}/a", b"")
    assert store.keys(f"heads/{uuid4()}/") == []


def test_a_key_that_holds_nothing_is_not_found(store: AnchorStore) -> None:
    with pytest.raises(NotFound):
        store.read([f"heads/{uuid4()}/a"])


def test_the_newest_bytes_of_a_key_are_read(store: AnchorStore) -> None:
    key = f"heads/{uuid4()}/a"
    store.put(key, b"first")
    store.put(key, b"second")
    assert store.read([key]) == [b"second"]


def test_an_object_put_to_s3_is_locked_by_the_buckets_retention(
    cloud: EmptyCloud, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3 = cloud.client("s3")
    monkeypatch.setattr(aws_anchors, "aws_client", lambda _: s3)
    key = f"heads/{uuid4()}/a"
    S3Anchors(bucket).put(key, b"head")
    retention = s3.get_object_retention(Bucket=bucket, Key=key)["Retention"]
    assert retention["Mode"] == "COMPLIANCE"
    told = s3.head_object(Bucket=bucket, Key=key, ChecksumMode="ENABLED")
    with pytest.raises(s3.exceptions.ClientError):
        s3.delete_object(Bucket=bucket, Key=key, VersionId=told["VersionId"])
    s3.close()

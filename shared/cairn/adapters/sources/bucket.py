"""Reads the objects below a prefix of an S3 bucket, as the role that Cairn runs as may.

Only of buckets that Cairn's owner names: the role may read more than a workspace should.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from cairn.adapters.aws.clients import aws_client
from cairn.adapters.sources.allowed import require_bucket
from cairn.adapters.sources.listed import MOST_PATHS, Chooser, fault_of, is_read
from cairn.documents.accept import MAX_DOCUMENT_BYTES
from cairn.kernel.errors import Denied, NotFound, TooLarge, Unavailable, ValidationFailed
from cairn.sources.reader import Item, Page
from cairn.sources.source import Content

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from cairn.sources.configs import BucketConfig
    from cairn.sources.reader import Marks

A_PAGE = 200
_ARCHIVED = frozenset({"GLACIER", "DEEP_ARCHIVE"})
_MISSING = frozenset({"NoSuchKey", "404", "NotFound"})
_DENIED = frozenset({"AccessDenied", "403", "AllAccessDisabled"})
_ELSEWHERE = frozenset({"PermanentRedirect", "301", "IllegalLocationConstraintException"})
_CHANGED = frozenset({"PreconditionFailed", "412"})


@dataclass
class BucketReader:
    """Implements `Reader`. A cursor is how many objects were listed, and the last one's key."""

    config: BucketConfig
    buckets: frozenset[str]

    def version(self) -> str | None:
        """Nothing tells at once."""
        return None

    def page(self, cursor: str | None, marks: Marks) -> Page:
        """Return the objects after a cursor, by key."""
        require_bucket(self.config.bucket, self.buckets)
        listed, _, after = (cursor or "0\n").partition("\n")
        prefix = f"{self.config.prefix.rstrip('/')}/" if self.config.prefix else ""
        with _explained():
            answer: dict[str, Any] = self._s3.list_objects_v2(
                Bucket=self.config.bucket,
                Prefix=prefix,
                MaxKeys=A_PAGE,
                **({"StartAfter": after} if after else {}),
            )
        objects: list[dict[str, Any]] = answer.get("Contents", [])
        count = int(listed) + len(objects)
        if count > MOST_PATHS:
            raise TooLarge(f"The bucket has more than {MOST_PATHS} keys.", reason="too-many-paths")
        chooses = Chooser(self.config)
        paths = [(each["Key"].removeprefix(prefix), each) for each in objects]
        items = [
            self._item(path, each)
            for path, each in paths
            if not path.endswith("/") and path and (fault_of(path) or chooses(path))
        ]
        more = bool(answer.get("IsTruncated")) and bool(objects)
        return Page(items=tuple(items), cursor=f"{count}\n{objects[-1]['Key']}" if more else None)

    def close(self) -> None:
        """The process keeps its connections."""

    @property
    def _s3(self) -> Any:
        return aws_client("s3", self.config.region)

    def _item(self, path: str, each: Mapping[str, Any]) -> Item:
        if (fault := fault_of(path)) is not None:
            shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in path)
            return Item(key=shown[:1_000], refused=fault)
        if not is_read(path):
            return Item(key=path, skipped=True)
        if each.get("StorageClass") in _ARCHIVED:
            return Item(key=path, refused="archived")
        tag = str(each.get("ETag") or each["LastModified"].isoformat())
        return Item(
            key=path,
            mark=f"{tag}-{each['Size']}",
            size=int(each["Size"]),
            load=partial(self._load, str(each["Key"]), each.get("ETag")),
        )

    def _load(self, key: str, tag: str | None) -> Content:
        """Read the very object that was listed; one that has changed since is the next run's."""
        condition = {"IfMatch": tag} if tag else {}
        with _explained():
            answer = self._s3.get_object(Bucket=self.config.bucket, Key=key, **condition)
            body: bytes = answer["Body"].read(MAX_DOCUMENT_BYTES + 1)
        return Content(body=body, metadata={"bucket": self.config.bucket})


@contextmanager
def _explained() -> Generator[None]:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as problem:
        _raise(str(problem.response.get("Error", {}).get("Code", "")), problem)
    except BotoCoreError as problem:
        raise Unavailable("The bucket cannot be reached.", reason="unreachable") from problem


def _raise(code: str, problem: Exception) -> None:
    if code == "NoSuchBucket":
        raise NotFound("There is no such bucket.", reason="no-such-bucket") from problem
    if code in _MISSING or code in _CHANGED:
        raise NotFound("The object is gone, or another by now.", reason="gone") from problem
    if code in _DENIED:
        raise Denied("The bucket may not be read.", reason="bucket-denied") from problem
    if code in _ELSEWHERE:
        raise ValidationFailed(
            "The bucket is in another region: name it in config.region.", reason="bucket-region"
        ) from problem
    raise Unavailable("The bucket cannot be read now.", reason="unreachable") from problem

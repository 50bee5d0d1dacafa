"""Documents on their way through the ingestion machine, in S3."""

from __future__ import annotations

from base64 import b64encode
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.adapters.aws.clients import aws_client
from cairn.documents.ports import Presigned
from cairn.kernel.errors import NotFound, Unavailable

if TYPE_CHECKING:
    from collections.abc import Generator

_MISSING = ("NoSuchKey", "404", "NotFound")


@dataclass(frozen=True)
class S3Objects:
    """Implements `ObjectStore` over one bucket."""

    bucket: str

    def put(self, key: str, content: bytes) -> None:
        """Store bytes under a key."""
        with translated():
            self._s3.put_object(Bucket=self.bucket, Key=key, Body=content)

    def get(self, key: str) -> bytes:
        """Return the bytes of a key."""
        with translated():
            return self._s3.get_object(Bucket=self.bucket, Key=key)["Body"].read()

    def size(self, key: str) -> int | None:
        """Return how many bytes a key holds, None when it holds nothing."""
        try:
            with translated():
                return self._s3.head_object(Bucket=self.bucket, Key=key)["ContentLength"]
        except NotFound:
            return None

    def delete(self, key: str) -> None:
        """Remove a key."""
        with translated():
            self._s3.delete_object(Bucket=self.bucket, Key=key)

    def first_bytes(self, key: str, count: int) -> bytes:
        """Return the first bytes of a key, `count` at most."""
        with translated():
            part = self._s3.get_object(Bucket=self.bucket, Key=key, Range=f"bytes=0-{count - 1}")
            return part["Body"].read()

    def presign(
        self, key: str, *, size: int, media_type: str, sha256: str | None, seconds: int
    ) -> Presigned:
        """Return a PUT of exactly `size` bytes; the signature covers everything it has to say."""
        parameters = {
            "Bucket": self.bucket,
            "Key": key,
            "ContentLength": size,
            "ContentType": media_type,
            "IfNoneMatch": "*",
        }
        headers = {"Content-Type": media_type, "If-None-Match": "*"}
        if sha256 is not None:
            checksum = b64encode(bytes.fromhex(sha256)).decode("ascii")
            parameters["ChecksumSHA256"] = headers["x-amz-checksum-sha256"] = checksum
        with translated():
            url = self._s3.generate_presigned_url(
                "put_object", Params=parameters, ExpiresIn=seconds
            )
        return Presigned(url=url, headers=headers)

    @property
    def _s3(self) -> Any:
        return aws_client("s3")


@contextmanager
def translated() -> Generator[None]:
    """Raise what S3 says as NotFound (no such key) or Unavailable (`object-store`)."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as exc:
        if exc.response.get("Error", {}).get("Code") in _MISSING:
            raise NotFound("The object is gone.", reason="no-object") from exc
        raise Unavailable("The object store refused.", reason="object-store") from exc
    except BotoCoreError as exc:
        raise Unavailable("The object store cannot be reached.", reason="object-store") from exc

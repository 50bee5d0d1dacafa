"""Git's smart HTTP over our own client, and a look through a pack before it is unpacked."""

from __future__ import annotations

import zlib
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import httpx
from dulwich.client import AbstractHttpGitClient

from cairn.documents.accept import MAX_DOCUMENT_BYTES
from cairn.kernel.errors import (
    CairnError,
    Denied,
    NotFound,
    TooLarge,
    Unavailable,
    ValidationFailed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cairn.kernel.clock import Stopwatch

SECONDS = 300.0
"""What one answer may take, however steadily it comes."""
MOST_REDIRECTS = 5
MOST_OBJECT_BYTES = 2 * MAX_DOCUMENT_BYTES
"""Of one file or folder, unpacked: twice what is read, for what lies beside the documents."""
OFS_DELTA, REF_DELTA = 6, 7
PIECE = 65_536


class _Answer:
    """What dulwich looks at of an answer."""

    def __init__(self, answer: httpx.Response, moved_to: str, close: Callable[[], None]) -> None:
        self.status = answer.status_code
        self.content_type = answer.headers.get("content-type", "")
        self.redirect_location = moved_to
        self.close = close


class GitOverHttp(AbstractHttpGitClient):
    """Fetches over a transport that says where requests may lead."""

    def __init__(
        self,
        url: str,
        *,
        transport: Callable[[], httpx.BaseTransport],
        stopwatch: Stopwatch,
        sign_in: tuple[str, str] | None,
    ) -> None:
        super().__init__(url, quiet=True)
        self._transport, self._stopwatch, self._sign_in = transport, stopwatch, sign_in

    def _get_url(self, path: str | bytes) -> str:
        return self._base_url

    def _http_request(  # type: ignore[override]
        self,
        url: str,
        headers: dict[str, str] | None = None,
        data: bytes | Iterator[bytes] | None = None,
        raise_for_status: bool = True,
    ) -> tuple[Any, Callable[[int], bytes]]:
        """Send one request; redirects of a GET are followed within the host that was named."""
        client = httpx.Client(transport=self._transport(), timeout=30.0, auth=self._sign_in)
        try:
            answer, moved_to = self._answered(client, url, headers or {}, data)
        except CairnError:
            client.close()
            raise
        except (httpx.HTTPError, httpx.InvalidURL):
            client.close()
            raise Unavailable("The host did not answer.", reason="unreachable") from None
        ends = self._stopwatch() + SECONDS
        pieces, left = answer.iter_bytes(PIECE), bytearray()

        def read(size: int) -> bytes:
            try:
                while len(left) < size:
                    if self._stopwatch() > ends:
                        raise Unavailable("The repository takes too long.", reason="timeout")
                    left.extend(next(pieces))
            except StopIteration:
                pass
            except httpx.HTTPError:
                raise Unavailable("The repository broke off.", reason="unreachable") from None
            taken = bytes(left[:size])
            del left[:size]
            return taken

        def close() -> None:
            answer.close()
            client.close()

        return _Answer(answer, moved_to, close), read

    def _answered(
        self, client: httpx.Client, url: str, headers: dict[str, str], data: Any
    ) -> tuple[httpx.Response, str]:
        moved_to, method = "", "GET" if data is None else "POST"
        headers = {"user-agent": "git/cairn", "accept-encoding": "identity", **headers}
        for _ in range(MOST_REDIRECTS + 1):
            request = client.build_request(method, url, headers=headers, content=data)
            answer = client.send(request, stream=True)
            if answer.status_code not in {301, 302, 303, 307, 308} or data is not None:
                _require_good(answer)
                return answer, moved_to
            answer.close()
            target = urljoin(url, answer.headers.get("location", ""))
            if urlsplit(target)[:2] != urlsplit(url)[:2]:
                raise ValidationFailed(
                    "The repository is elsewhere: give its address there.", reason="moved"
                )
            url = moved_to = target
        raise ValidationFailed(
            f"The repository redirects more than {MOST_REDIRECTS} times.", reason="fetch-redirects"
        )


def _require_good(answer: httpx.Response) -> None:
    if answer.status_code == 200:
        return
    answer.close()
    if answer.status_code in {401, 403}:
        raise Denied("The repository refuses to be read with this token.", reason="sign-in")
    if answer.status_code in {404, 410}:
        raise NotFound("There is no such repository, or not for this token.", reason="not-there")
    raise Unavailable(f"The repository's host answered {answer.status_code}.", reason="unreachable")


def require_small(pack: IO[bytes]) -> None:
    """Raise TooLarge when anything in a pack unpacks to more than it may; ends at its end.

    What an entry says of its size is compared with what comes out of it, a piece at a time. Of a
    delta, which may repeat a piece of another file as often as it likes, its result counts.
    """
    pack.seek(0)
    head = pack.read(12)
    if len(head) < 12 or head[:4] != b"PACK":
        raise ValidationFailed("The repository is damaged.", reason="git-damaged")
    for _ in range(int.from_bytes(head[8:], "big")):
        _look_at_entry(pack)
    pack.seek(0, 2)


def _look_at_entry(pack: IO[bytes]) -> None:
    byte = _byte(pack)
    kind, size, shift = byte >> 4 & 7, byte & 15, 4
    while byte & 0x80:
        byte = _byte(pack)
        size |= (byte & 0x7F) << shift
        shift += 7
    if kind == OFS_DELTA:
        while _byte(pack) & 0x80:
            pass
    elif kind == REF_DELTA:
        pack.read(20)
    _require(size)
    unpacked = _unpacked(pack, size, keep=kind in {OFS_DELTA, REF_DELTA})
    if kind in {OFS_DELTA, REF_DELTA}:
        _require(_result_of(unpacked))


def _unpacked(pack: IO[bytes], size: int, *, keep: bool) -> bytes:
    """Return what an entry unpacks to when it is whole; leaves the file behind the entry."""
    unpacker, whole, total = zlib.decompressobj(), bytearray(), 0
    piece = b""
    try:
        while not unpacker.eof:
            piece = unpacker.unconsumed_tail or pack.read(PIECE)
            if not piece:
                break
            out = unpacker.decompress(piece, PIECE)
            total += len(out)
            _require(total)
            if keep:
                whole += out
    except zlib.error:
        raise ValidationFailed("The repository is damaged.", reason="git-damaged") from None
    if not unpacker.eof or total != size:
        raise ValidationFailed("The repository is damaged.", reason="git-damaged")
    pack.seek(-len(unpacker.unused_data), 1)
    return bytes(whole)


def _result_of(delta: bytes) -> int:
    """Return how many bytes a delta makes, by adding up what it copies and inserts."""
    at = _after_number(delta, _after_number(delta, 0))
    total = 0
    while at < len(delta):
        order = delta[at]
        at += 1
        if not order & 0x80:
            at += order
            total += order
            continue
        at += (order & 0x0F).bit_count()
        length, places = 0, [place for place in range(3) if order & (0x10 << place)]
        for place in places:
            length |= (delta[at] if at < len(delta) else 0) << (8 * place)
            at += 1
        total += length or 0x10000
    return total


def _after_number(delta: bytes, at: int) -> int:
    while at < len(delta) and delta[at] & 0x80:
        at += 1
    return at + 1


def _byte(pack: IO[bytes]) -> int:
    byte = pack.read(1)
    if not byte:
        raise ValidationFailed("The repository is damaged.", reason="git-damaged")
    return byte[0]


def _require(size: int) -> None:
    if size > MOST_OBJECT_BYTES:
        raise TooLarge(
            f"The repository holds a file of more than {MOST_OBJECT_BYTES} bytes.",
            reason="file-too-large",
        )

"""Speaks the HTTP API for the commands: one call in, JSON out, problems as failures."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx


_ADVICE = {
    "unauthenticated": "check CAIRN_API_KEY, or source .local/cairn.env",
    "denied": "use a key with more rights: cairn keys create",
    "not-found": "check the id",
    "rate-limited": "wait a moment and run it again",
    "unavailable": "see what is down: cairn status",
    "internal": "look for the request id in the log: cairn logs api",
}


class Failure(Exception):
    """A command cannot do what was asked. `advice` says what to do about it.

    `code` is the API's name of the problem, "" for what is none of its.
    """

    def __init__(self, message: str, *, advice: str | None = None, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.code = code


def from_problem(problem: Mapping[str, Any]) -> Failure:
    """Return the failure of a problem+json answer."""
    code = str(problem.get("type", "")).rpartition(":")[2]
    message = str(problem.get("detail") or problem.get("title") or "The API refused the request.")
    message = message.removeprefix("body.")
    request = problem.get("instance")
    if request and int(problem.get("status", 0)) >= 500:
        message = f"{message} [request {request}]"
    return Failure(message, advice=_ADVICE.get(code), code=code)


TIMEOUT_SECONDS = 60.0
ALREADY_THERE = 412
"""What an object store answers to an upload that it has: one whose first answer was lost."""

AGAIN = frozenset({409, 500, 502, 503, 504})
ATTEMPTS = 4
_WAIT_AND_RETRY = frozenset({429, 503})
_LONGEST_WAIT = 30.0
BROKEN_OFF = "broken-off"
"""The code of a failure: a stream ended before what it tells of did."""


class Client:
    """One key on one API. Answers 429 and 503 are retried as long as they ask to, four times."""

    def __init__(
        self,
        url: str,
        key: str | None,
        *,
        sleep: Callable[[float], None],
        transport: "httpx.BaseTransport | None" = None,
    ) -> None:
        import httpx

        headers = {"authorization": f"Bearer {key}"} if key else {}
        self.url = url
        self._sleep = sleep
        self._http = httpx.Client(
            base_url=url, headers=headers, timeout=TIMEOUT_SECONDS, transport=transport
        )

    def get(self, path: str, **params: Any) -> Any:
        """GET; parameters that are None are left out."""
        present = {name: value for name, value in params.items() if value is not None}
        return self._call("GET", path, params=present)

    def post(self, path: str, body: Mapping[str, Any], *, idempotency: str | None = None) -> Any:
        """POST a JSON body."""
        headers = {"idempotency-key": idempotency} if idempotency else {}
        return self._call("POST", path, json=body, headers=headers)

    def put(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """PUT a JSON body, or nothing."""
        return self._call("PUT", path, json=body)

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """PATCH a JSON body."""
        return self._call("PATCH", path, json=body)

    def delete(self, path: str, **params: Any) -> Any:
        """DELETE; parameters that are None are left out."""
        present = {name: value for name, value in params.items() if value is not None}
        return self._call("DELETE", path, params=present)

    def put_bytes(self, url: str, content: bytes, headers: Mapping[str, str]) -> None:
        """PUT bytes to a presigned URL, which takes no key; what is there already is done."""
        import httpx

        for wait in (1.0, 3.0, None):
            try:
                answer = httpx.put(
                    url, content=content, headers=dict(headers), timeout=TIMEOUT_SECONDS
                )
            except httpx.HTTPError as exc:
                if wait is None:
                    raise Failure(f"The upload failed: {type(exc).__name__}.") from exc
            else:
                if answer.is_success or answer.status_code == ALREADY_THERE:
                    return
                if wait is None or answer.status_code not in AGAIN:
                    raise Failure(f"The upload was refused with status {answer.status_code}.")
            self._sleep(wait)

    def pages(self, path: str, **params: Any) -> Iterator[Any]:
        """Yield a list's items over all its pages."""
        cursor = None
        while True:
            page = self.get(path, **params, cursor=cursor)
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def lines(self, path: str, headers: Mapping[str, str]) -> Iterator[str]:
        """Yield the lines of a streamed answer as they come.

        Failure when it is refused (its `code` says how) or when the connection is lost.
        """
        yield from self._streamed("GET", path, headers=dict(headers))

    def streamed(self, path: str, body: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines of a POST's streamed answer as they come; as `lines` fails."""
        headers = {"accept": "text/event-stream"}
        yield from self._streamed("POST", path, json=body, headers=headers)

    def _streamed(self, method: str, path: str, **arguments: Any) -> Iterator[str]:
        import httpx

        try:
            with self._http.stream(method, path, **arguments) as answer:
                if answer.is_error:
                    answer.read()
                    raise self._failure(answer)
                yield from answer.iter_lines()
        except (httpx.ConnectError, httpx.InvalidURL) as exc:
            raise self._unreachable(BROKEN_OFF) from exc
        except httpx.HTTPError as exc:
            raise Failure(
                f"The stream of {self.url} broke off.",
                advice="see what is down: cairn status",
                code=BROKEN_OFF,
            ) from exc

    def _call(self, method: str, path: str, **arguments: Any) -> Any:
        answer = self._send(method, path, **arguments)
        for _ in range(ATTEMPTS - 1):
            if answer.status_code not in _WAIT_AND_RETRY:
                break
            wait = answer.headers.get("retry-after", "1")
            self._sleep(min(float(wait) if wait.isdecimal() else 1.0, _LONGEST_WAIT))
            answer = self._send(method, path, **arguments)
        if answer.is_error:
            raise self._failure(answer)
        return answer.json()

    def _send(self, method: str, path: str, **arguments: Any) -> "httpx.Response":
        import httpx

        try:
            return self._http.request(method, path, **arguments)
        except httpx.TimeoutException as exc:
            raise Failure(
                f"{self.url} did not answer within {TIMEOUT_SECONDS:.0f} s.",
                advice="see what is down: cairn status",
            ) from exc
        except (httpx.HTTPError, httpx.InvalidURL) as exc:
            raise self._unreachable() from exc

    def _unreachable(self, code: str = "") -> Failure:
        advice = "start the laptop stack: cairn up"
        return Failure(f"{self.url} cannot be reached.", advice=advice, code=code)

    def _failure(self, answer: "httpx.Response") -> Failure:
        if answer.headers.get("content-type", "").startswith("application/problem+json"):
            return from_problem(answer.json())
        return Failure(f"{self.url} answered with status {answer.status_code}.")

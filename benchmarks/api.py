"""One key on the HTTP API, with the time each answer took. No retries hide inside a time."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cairn.cli.client import Failure, from_problem

if TYPE_CHECKING:
    import httpx

TIMEOUT_SECONDS = 120.0
ATTEMPTS = 20
_WAIT = frozenset({429, 503})


class TimedApi:
    """Calls the API. 429 and 503 are waited out; only the call that was answered is timed."""

    def __init__(
        self,
        http: "httpx.Client",
        *,
        sleep: Callable[[float], None],
        stopwatch: Callable[[], float],
        key: str | None = None,
    ) -> None:
        self._http = http
        self._sleep = sleep
        self._stopwatch = stopwatch
        self._headers = {} if key is None else {"authorization": f"Bearer {key}"}

    def keyed(self, key: str) -> "TimedApi":
        """Return the same API for another key."""
        return TimedApi(self._http, sleep=self._sleep, stopwatch=self._stopwatch, key=key)

    def get(self, path: str) -> Any:
        """GET and return the JSON."""
        return self._call("GET", path, None)[0]

    def post(self, path: str, body: Mapping[str, Any]) -> tuple[Any, float]:
        """POST JSON and return the JSON of the answer and the milliseconds it took."""
        return self._call("POST", path, body)

    def put(self, path: str, body: Mapping[str, Any]) -> Any:
        """PUT JSON and return the JSON of the answer."""
        return self._call("PUT", path, body)[0]

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """PATCH JSON and return the JSON of the answer."""
        return self._call("PATCH", path, body)[0]

    def delete(self, path: str) -> Any:
        """DELETE and return the JSON of the answer."""
        return self._call("DELETE", path, None)[0]

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[Any, float]:
        import httpx

        for _ in range(ATTEMPTS):
            start = self._stopwatch()
            try:
                answer = self._http.request(method, path, json=body, headers=self._headers)
            except httpx.HTTPError as exc:
                raise Failure(
                    f"{self._http.base_url} cannot be reached: {type(exc).__name__}.",
                    advice="see what is down: cairn status",
                ) from exc
            ms = (self._stopwatch() - start) * 1000
            if answer.status_code not in _WAIT:
                return _json(answer), ms
            after = answer.headers.get("retry-after", "1")
            self._sleep(float(after) if after.isdecimal() else 1.0)
        raise Failure(f"{path} stayed unavailable or limited over {ATTEMPTS} attempts.")


def _json(answer: "httpx.Response") -> Any:
    if not answer.is_error:
        return answer.json()
    if answer.headers.get("content-type", "").startswith("application/problem+json"):
        raise from_problem(answer.json())
    raise Failure(f"The API answered with status {answer.status_code}.")

"""The connector `http`: requests to the addresses it was given, and to no others.

Addresses inside a network are refused unless `allow_private`. Redirects are followed by reads only,
as far as the rules reach, with the headers of the rule they lead to. Whether a repeated write
happens once is up to who answers: the key is sent as `Idempotency-Key`, and the connector calls
itself deduplicating only where `receivers_deduplicate` says so. Settings: `rules`, `allow_private`,
`receivers_deduplicate`, `max_body_bytes`, `seconds`; secrets: those the rules name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

import httpx
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
    model_validator,
)

from cairn.adapters.http.outgoing import (
    PORTS,
    Outgoing,
    Resolve,
    address_to_ask,
    body_of,
    refuse,
    resolved,
)
from cairn.bundled.configuration import ConnectorConfig, configured, run
from cairn.bundled.serving import (
    Answer,
    Arguments,
    Text,
    WriteArguments,
    connector_server,
    one_line,
    reads,
    writes,
)
from cairn.connectors.port import ConnectorUnauthorised, OutcomeUnknown, whole_words
from cairn.kernel.clock import Stopwatch, monotonic
from cairn.kernel.errors import CairnError, Unavailable

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from cairn.kernel.text.json_value import JsonValue


Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

_PLAIN_PATH = re.compile(r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})*)*")
_UNCLEAR = re.compile(r"%(?:2[EF]|5C|00)", re.IGNORECASE)


class Rule(BaseModel):
    """What may be asked. `url` ends in `/*` for everything below it, else it is the one path.

    `headers` are sent in clear, `secret_headers` name the secret whose value is sent.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: str = Field(max_length=1000)
    methods: frozenset[Method] = frozenset({"GET"})
    headers: Mapping[str, str] = Field(default_factory=dict)
    secret_headers: Mapping[str, Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]] = Field(
        default_factory=dict
    )

    @field_validator("url")
    @classmethod
    def _clear(cls, value: str) -> str:
        parts = urlsplit(value.removesuffix("*"))
        if value.count("*") > value.endswith("/*") or parts.query:
            raise ValueError("is an address, with /* at its end for all below it, and no query")
        fault = fault_of(parts)
        if fault:
            raise ValueError(fault)
        return value

    @field_validator("headers", "secret_headers")
    @classmethod
    def _header_names(cls, value: Mapping[str, str]) -> Mapping[str, str]:
        for name, text in value.items():
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{0,63}", name) or re.search(
                r"[\r\n\0]", text
            ):
                raise ValueError("has a name or a value that no header may have")
            if name.casefold() in {"host", "content-length", "transfer-encoding", "connection"}:
                raise ValueError("has a header that is the connector's own to send")
        return value

    def allows(self, method: str, parts: SplitResult) -> bool:
        """Return whether a request is this rule's."""
        mine = urlsplit(self.url)
        if method not in self.methods or origin(mine) != origin(parts):
            return False
        if mine.path.endswith("/*"):
            return parts.path.startswith(mine.path.removesuffix("*"))
        return (parts.path or "/") == (mine.path or "/")


def origin(parts: SplitResult) -> tuple[str, str, int]:
    """Return scheme, host and port, which together say who answers."""
    return parts.scheme, (parts.hostname or "").rstrip("."), parts.port or PORTS[parts.scheme]


def fault_of(parts: SplitResult) -> str | None:
    """Return what is wrong with an address, None for one that can be read in one way only."""
    try:
        port = parts.port
    except ValueError:
        return "names no port"
    if parts.scheme not in PORTS or not parts.hostname or port == 0:
        return "begins with https:// or http:// and a host"
    if "@" in parts.netloc or parts.fragment:
        return "has neither a user nor a fragment"
    if not parts.netloc.isascii():
        return "has a host of ASCII letters; write others in punycode"
    segments = {part.partition(";")[0] for part in parts.path.split("/")}
    unclear = segments & {".", ".."} or _UNCLEAR.search(parts.path)
    if unclear or not _PLAIN_PATH.fullmatch(parts.path):
        return "has a path that could be read in two ways"
    return None


def read(url: str) -> SplitResult:
    """Return the parts of an address; ValidationFailed for one that is unclear."""
    try:
        parts = urlsplit(url)
        fault = fault_of(parts)
    except ValueError:
        fault = "is no address"
    else:
        if fault is None:
            return parts
    refuse(fault)


NAME, VERSION, PREFIX = "http", "1.0.0", "HTTP_CONNECTOR_"
MAX_REDIRECTS = 3
REDIRECTS = frozenset({301, 302, 303, 307, 308})
TOLD_HEADERS = ("content-type", "etag", "last-modified", "retry-after", "location")


class HttpConfig(ConnectorConfig):
    """What may be asked, with which headers."""

    rules: tuple[Rule, ...] = Field(min_length=1, max_length=100)
    allow_private: bool = False
    receivers_deduplicate: bool = False
    max_body_bytes: int = Field(default=80_000, ge=1, le=1_000_000)
    seconds: float = Field(default=10.0, gt=0, le=60)
    secret_values: dict[str, SecretStr] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _complete(self) -> HttpConfig:
        for rule in self.rules:
            if not self.allow_private and not rule.url.startswith("https://"):
                raise ValueError("every rule begins with https:// unless allow_private")
            if missing := set(rule.secret_headers.values()) - set(self.secret_values):
                raise ValueError(f"the rules name secrets that are not given: {sorted(missing)}")
        return self

    def secrets(self) -> list[str]:
        """Return the secret values, also without the word before them, as in `Bearer x`."""
        values = [value.get_secret_value() for value in self.secret_values.values()]
        return values + [value.rpartition(" ")[2] for value in values]


Url = Annotated[
    str, Field(max_length=4_000, description="The whole address."), AfterValidator(one_line)
]


class Get(Arguments):
    """What to read."""

    url: Url


class Send(WriteArguments):
    """What to send."""

    url: Url
    method: Literal["POST", "PUT", "PATCH", "DELETE"] = "POST"
    body: Text | None = Field(default=None, description="The body, as it is to be sent.")
    content_type: Literal["application/json", "application/x-www-form-urlencoded", "text/plain"] = (
        "application/json"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedRequest:
    """A request that a rule allows."""

    method: str
    parts: SplitResult
    rule: Rule
    body: str | None = None
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    """The tools. `resolve` and `transport` are a test's way in."""

    config: HttpConfig
    resolve: Resolve = resolved
    transport: httpx.BaseTransport | None = None
    stopwatch: Stopwatch = monotonic

    def health(self) -> Mapping[str, JsonValue]:
        """Resolve every host of the rules; nothing is asked of them."""
        hosts = {(urlsplit(rule.url).hostname or "", self._port(urlsplit(rule.url)))
                 for rule in self.config.rules}  # fmt: skip
        for host, port in sorted(hosts):
            self._address(host, port)
        return {"hosts": [host for host, _ in sorted(hosts)]}

    def get(self, arguments: Get) -> Answer:
        """Read an address and return what it answers, redirects within the rules followed."""
        url = arguments.url
        for _ in range(MAX_REDIRECTS + 1):
            request = self._allowed("GET", url)
            answer = self._sent(request)
            where = answer.location(url)
            if where is None:
                return Answer(value=answer.told(), failed=answer.status >= 400)
            url = where
        refuse(f"was redirected more than {MAX_REDIRECTS} times", reason="http-redirect")

    def send(self, arguments: Send) -> Answer:
        """Send a request once and return what is answered; redirects are not followed."""
        key = arguments.idempotency_key or ""
        headers = {"content-type": arguments.content_type} if arguments.body is not None else {}
        request = self._allowed(
            arguments.method,
            arguments.url,
            body=arguments.body,
            headers={**headers, "idempotency-key": key},
        )
        if arguments.content_type == "application/json" and arguments.body is not None:
            _check_json(arguments.body)
        if arguments.dry_run:
            self._address(request.parts.hostname or "", self._port(request.parts))
            would: dict[str, JsonValue] = {"dry_run": True, "method": arguments.method}
            return Answer(
                value={**would, "host": request.parts.hostname, "bytes": _size(arguments)}
            )
        answer = self._sent(request)
        return Answer(value=answer.told(), failed=answer.status >= 300)

    def _allowed(
        self,
        method: str,
        url: str,
        *,
        body: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AllowedRequest:
        parts = read(url)
        rule = next((rule for rule in self.config.rules if rule.allows(method, parts)), None)
        if rule is None:
            refuse("is not among the addresses and methods allowed here", reason="http-not-allowed")
        secret = {
            name: self.config.secret_values[of].get_secret_value()
            for name, of in rule.secret_headers.items()
        }
        sent = {**(headers or {}), **_lowered(rule.headers), **_lowered(secret)}
        return AllowedRequest(method=method, parts=parts, rule=rule, body=body, headers=sent)

    def _sent(self, arguments: AllowedRequest) -> Received:
        try:
            with httpx.Client(
                transport=self._transport(),
                timeout=self.config.seconds,
                follow_redirects=False,
                trust_env=False,
            ) as client:
                received = self._received(client, _request(arguments))
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise Unavailable("The host cannot be reached.", reason="unreachable") from None
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            raise _unanswered(arguments, isinstance(problem, httpx.TimeoutException)) from None
        if received.status in {401, 403} and arguments.rule.secret_headers:
            raise ConnectorUnauthorised(
                f"The host refuses the connector's sign-in with {received.status}."
            )
        if received.status >= 500 and arguments.method != "GET":
            raise _unanswered(arguments, False)
        return received

    def _received(self, client: httpx.Client, request: httpx.Request) -> Received:
        answer = client.send(request, stream=True)
        most, seconds = self.config.max_body_bytes, self.config.seconds
        try:
            content = body_of(answer, most=most, seconds=seconds, stopwatch=self.stopwatch)
        finally:
            answer.close()
        return Received(
            status=answer.status_code,
            headers={name: answer.headers[name] for name in TOLD_HEADERS if name in answer.headers},
            body=content[:most],
            truncated=len(content) > most,
        )

    def _transport(self) -> httpx.BaseTransport:
        return self.transport or Outgoing(
            allow_private=self.config.allow_private, resolve=self.resolve
        )

    def _address(self, host: str, port: int) -> str:
        return address_to_ask(
            host, port, resolve=self.resolve, allow_private=self.config.allow_private
        )

    def _port(self, parts: SplitResult) -> int:
        return parts.port or PORTS[parts.scheme]


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """What came back, cut to the byte cap."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    truncated: bool

    def location(self, url: str) -> str | None:
        """Return where a redirect leads, None when this is none."""
        if self.status not in REDIRECTS or "location" not in self.headers:
            return None
        try:
            return urljoin(url, self.headers["location"])
        except ValueError:
            refuse("was redirected to what is no address", reason="http-redirect")

    def told(self) -> JsonValue:
        """Return what the caller sees."""
        kind = self.headers.get("content-type", "")
        fields: dict[str, JsonValue] = {"status": self.status, "headers": dict(self.headers)}
        fields["body"] = self._text(kind)
        if self.truncated:
            fields["truncated"] = True
            fields["note"] = f"[truncated: the body is cut after {len(self.body)} bytes]"
        return fields

    def _text(self, kind: str) -> JsonValue:
        if b"\x00" in self.body:
            return f"[{len(self.body)} bytes of {kind or 'an unknown kind'}]"
        if self.truncated:
            return whole_words(self.body.decode(errors="replace"))
        text = self.body.decode(errors="replace")
        if "json" not in kind:
            return text
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text


def _request(arguments: AllowedRequest) -> httpx.Request:
    return httpx.Request(
        arguments.method,
        urlunsplit(arguments.parts),
        content=None if arguments.body is None else arguments.body.encode(),
        headers={
            "user-agent": "cairn-connector",
            "accept-encoding": "identity",
            **{name: value for name, value in arguments.headers.items() if value},
        },
    )


def _unanswered(arguments: AllowedRequest, timed_out: bool) -> CairnError:
    reason = "timeout" if timed_out else "unreachable"
    if arguments.method == "GET":
        return Unavailable("The host did not answer as it should.", reason=reason)
    return OutcomeUnknown(
        "The host did not say whether it did what was asked.",
        reason="tool-timeout" if timed_out else reason,
    )


def _lowered(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _check_json(body: str) -> None:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        refuse("gets a body that is not JSON, as its content type says", reason="http-body")


def _size(send: Send) -> int:
    return 0 if send.body is None else len(send.body.encode())


def server(config: Mapping[str, JsonValue], secrets: Mapping[str, str]) -> Server[Any]:
    """Return the server; ValidationFailed names settings it cannot work with."""
    secret_values = config.get("secret_values", {})
    values = {**(secret_values if isinstance(secret_values, dict) else {}), **secrets}
    return served(Http(config=configured(HttpConfig, {**config, "secret_values": values}, {})))


def served(http: Http) -> Server[Any]:
    """Return the server over `http`."""
    deduplicates = http.config.receivers_deduplicate
    return connector_server(
        NAME,
        VERSION,
        [
            reads("get", "Read an address that is allowed here.", Get, http.get),
            writes(
                "send",
                "Send a request that changes something to an address that is allowed here.",
                Send,
                http.send,
                dangerous=True,
                deduplicates=deduplicates,
            ),
        ],
        health=http.health,
        instructions="Asks a fixed list of addresses: "
        + ", ".join(f"{'/'.join(sorted(rule.methods))} {rule.url}" for rule in http.config.rules),
        secrets=http.config.secrets(),
    )


if __name__ == "__main__":
    run(server, HttpConfig, PREFIX)

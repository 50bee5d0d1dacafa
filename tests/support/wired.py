"""A gateway to a model over HTTP that a test writes the answers of, with the real clients."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import SecretStr
from tests.fakes.model_calls import InMemoryCallLog
from tests.support.chat_wire import chat_server

from cairn.bootstrap.models import chat_models, silent
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
from cairn.llm.budget import Terms
from cairn.llm.gateway import Gateway, Surroundings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.chat_wire import ChatServer

KEY = SecretStr("sk-test-0123456789abcdef")


@dataclass(frozen=True, kw_only=True)
class _Settings:
    stage: Literal["local", "prod"] = "local"
    anthropic_api_key: SecretStr | None = None
    anthropic_base_url: str | None = None
    bedrock_api_key: SecretStr | None = None
    bedrock_base_url: str | None = None
    openai_api_key: SecretStr | None = None
    openai_base_url: str | None = None
    embedder: str = "onnx"
    chat_model: str = ""
    model_budgets: str = ""


@dataclass(kw_only=True)
class Wired:
    """A server that speaks as a provider does, and a gateway that asks it."""

    server: ChatServer
    gateway: Gateway
    calls: InMemoryCallLog = field(default_factory=InMemoryCallLog)

    def shown(self) -> str:
        """Return the prompt of the newest request, its system words apart."""
        return str(self.server.requests[-1]["messages"])


@contextmanager
def wired(provider: str = "anthropic") -> Iterator[Wired]:
    """Serve until the block ends."""
    with chat_server() as server:
        settings = (
            _Settings(anthropic_api_key=KEY, anthropic_base_url=server.url)
            if provider == "anthropic"
            else _Settings(openai_api_key=KEY, openai_base_url=f"{server.url}/v1")
        )
        models: list[Any] = list(chat_models(settings))
        calls = InMemoryCallLog()
        gateway = Gateway(
            models,
            Surroundings(
                terms=lambda _: Terms(),
                calls=calls,
                clock=utc_now,
                stopwatch=monotonic,
                pause=lambda _: None,
                new_id=new_id,
                report=silent,
            ),
        )
        try:
            yield Wired(server=server, gateway=gateway, calls=calls)
        finally:
            server.released.set()
            for model in models:
                model.close()

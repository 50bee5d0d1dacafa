"""Opens what is declared beside this: settings checked, clients made, their errors translated.

Help desks (`help_desks`) and messaging channels (`messengers.opening`) are opened so. Not which
kinds of them there are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from cairn.adapters.http.desks.declaring import Opening
from cairn.adapters.http.rest import rest_breakers
from cairn.connectors.port import ConnectorUnauthorised, OutcomeUnknown
from cairn.kernel.clock import Clock, Stopwatch, monotonic, utc_now
from cairn.kernel.errors import RateLimited, Unavailable
from cairn.oauth_client.ports import SignInNeeded
from cairn.tickets.adapter import DeskForm, NeedsAuth

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import httpx

    from cairn.adapters.http.desks.declaring import Declared
    from cairn.kernel.resilience.breaker import Breakers
    from cairn.oauth_client.ports import Bearer

AdapterT = TypeVar("AdapterT")


def forms(kinds: Mapping[Any, Declared[Any, Any]]) -> Mapping[str, DeskForm]:
    """Return what each kind is made of."""
    return {
        each.kind.value: DeskForm(config=each.config.listed(), secrets=each.secrets.listed())
        for each in kinds.values()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Opener:
    """What of this process an adapter needs; nothing is asked of a service here.

    `allow_private` lets addresses lead into this network: for a laptop.
    """

    allow_private: bool = False
    transport: httpx.BaseTransport | None = None
    clock: Clock = utc_now
    stopwatch: Stopwatch = monotonic
    breakers: Breakers = field(default_factory=rest_breakers)

    def opened(
        self,
        declared: Declared[Any, AdapterT],
        config: Mapping[str, Any],
        secrets: Mapping[str, str],
        *,
        called: str,
        bearer: Bearer | None = None,
    ) -> AdapterT:
        """Return the adapter; ValidationFailed names the wrong field. `called`: to people."""
        declared.config.check("config", config)
        declared.secrets.check("secrets", secrets)
        opening = Opening(
            config=config,
            secrets=secrets,
            allow_private=self.allow_private,
            transport=self.transport,
            clock=self.clock,
            stopwatch=self.stopwatch,
            breakers=self.breakers,
            bearer=bearer,
        )
        return cast("AdapterT", Translated(declared.open(opening), called))


@dataclass(frozen=True, slots=True)
class Translated(Generic[AdapterT]):
    """An adapter whose client's errors are those of its port.

    An answer that never came counts as not given: the next try looks for it before it writes.
    """

    adapter: AdapterT
    called: str

    def __getattr__(self, name: str) -> Callable[..., object]:
        """Return a method of the adapter."""
        method = getattr(self.adapter, name)
        return lambda *arguments, **options: self._ask(lambda: method(*arguments, **options))

    def _ask(self, ask: Callable[[], object]) -> object:
        try:
            return ask()
        except (ConnectorUnauthorised, SignInNeeded) as refused:
            raise NeedsAuth(f"The {self.called} refuses its sign-in; renew it.") from refused
        except OutcomeUnknown as unknown:
            raise Unavailable(
                f"The {self.called} did not answer.", reason=unknown.reason
            ) from unknown
        except RateLimited as limited:
            raise Unavailable(
                f"The {self.called} has had too many requests.",
                reason=f"{self.called.replace(' ', '-')}-busy",
                retry_after=limited.retry_after,
            ) from limited

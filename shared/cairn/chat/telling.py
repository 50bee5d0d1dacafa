"""The trace events of a turn as it goes: numbered, kept, and handed to who listens. Not a reader.

Names are those of trace events everywhere: graph_start and _end, agent_start and _end,
iteration_start, llm_start and _end, text_chunk, tool_activity, debug_meta. A turn that was stopped
tells nothing more: telling raises.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cairn.chat.rows import EventRow
from cairn.chat.views import Told
from cairn.kernel.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform
    from cairn.writing.sealing import Sealer

FLUSH_SECONDS = 0.05
"""How long pieces of text are gathered before they are kept together; the first goes at once."""

TEXT_CHUNK = "text_chunk"


class Stopped(Conflict):
    """The turn was aborted: whoever works on it stops."""


@dataclass(slots=True, kw_only=True)
class Teller:
    """Tells of one turn, in one thread. `listen` gets what was kept."""

    platform: Platform
    principal: Principal
    turn_id: UUID
    sealer: Sealer
    listen: Callable[[Sequence[Told]], None]
    timings: dict[str, float] = field(default_factory=dict[str, float])
    _text: list[str] = field(default_factory=list[str])
    _iteration: int = 0
    _flushed: float = 0.0

    def tell(self, name: str, texts: Mapping[str, Any] | None = None, /, **data: Any) -> None:
        """Tell of something now, after the text that was gathered. `texts` are sealed."""
        self._keep([*self._gathered(), (name, data, texts or {})])

    def begin(self, what: str, name: str, **data: Any) -> float:
        """Tell that something starts; return when."""
        self.tell(f"{what}_start", name=name, **data)
        return self.platform.stopwatch()

    def end(
        self,
        what: str,
        name: str,
        began: float,
        texts: Mapping[str, Any] | None = None,
        /,
        **data: Any,
    ) -> None:
        """Tell that it ended, and how long it took."""
        took = self.platform.stopwatch() - began
        self.timings[name] = self.timings.get(name, 0.0) + took
        self.tell(f"{what}_end", texts, name=name, **data, duration_ms=round(took * 1000))

    def say(self, text: str, iteration: int) -> None:
        """Tell of text as it comes."""
        if not text:
            return
        self._text.append(text)
        self._iteration = iteration
        if self.platform.stopwatch() - self._flushed >= FLUSH_SECONDS:
            self._keep(self._gathered())

    def check(self) -> None:
        """Raise Stopped unless the turn runs."""
        with self.platform.transactions.reading(self.principal) as stores:
            if not stores.chats.runs(self.turn_id):
                raise _stopped()

    def _gathered(self) -> list[tuple[str, dict[str, Any], Mapping[str, Any]]]:
        if not self._text:
            return []
        text, self._text = "".join(self._text), []
        return [(TEXT_CHUNK, {"iteration": self._iteration}, {"text": text})]

    def _keep(self, events: Sequence[tuple[str, dict[str, Any], Mapping[str, Any]]]) -> None:
        now = self.platform.clock()
        rows = [
            EventRow(
                seq=0,
                name=name,
                data=data,
                sealed=self.sealer.seal(texts) if texts else None,
                at=now,
            )
            for name, data, texts in events
        ]
        with self.platform.transactions.preparing(self.principal) as (stores, _):
            numbers = stores.chats.tell(self.turn_id, rows)
        self._flushed = self.platform.stopwatch()
        if not numbers:
            raise _stopped()
        self.listen(
            [
                Told(seq=seq, name=name, data={**data, **texts}, at=now)
                for seq, (name, data, texts) in zip(numbers, events, strict=True)
            ]
        )


def _stopped() -> Stopped:
    return Stopped("This turn was stopped.", reason="turn-stopped")

"""Routes that take one item or up to 500: each is checked and answered for itself.

Not the items: their routes say what one holds and what is shown of what became of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from pydantic import ValidationError, model_validator
from starlette.responses import Response
from typing_extensions import TypedDict

from cairn.api.answers import answer, replay_headers
from cairn.api.fields import Body
from cairn.api.problems import Problem, ProblemDetails, from_error, from_validation
from cairn.writing.items import ItemOutcome, Outcome

RecordT = TypeVar("RecordT")
OutcomeT = TypeVar("OutcomeT", bound=ItemOutcome)
ShownT = TypeVar("ShownT")
OutcomeT_co = TypeVar("OutcomeT_co", bound=ItemOutcome, covariant=True)


class Batch(Body):
    """Base of bodies that hold many items."""

    @model_validator(mode="before")
    @classmethod
    def refuse_unstorable_text(cls, value: object) -> object:
        """Leave the items' texts to the items, so that one bad item does not sink the others."""
        return value


class RejectedItem(TypedDict):
    """An item that was refused, at its place among the items, and why."""

    index: int
    outcome: Literal[Outcome.REJECTED]
    error: ProblemDetails


class BatchOf(TypedDict, Generic[ShownT]):
    """What became of each item, in their order, and how many had which outcome."""

    results: list[ShownT | RejectedItem]
    counts: dict[Outcome, int]


class BatchResult(Protocol[OutcomeT_co]):
    """What writing a batch gave, in the order of its items."""

    @property
    def outcomes(self) -> tuple[OutcomeT_co, ...]: ...
    @property
    def replayed(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers(Generic[OutcomeT]):
    """How the outcomes of one kind of item are shown.

    `more` is what is shown of a good one beside outcome, id and position; `possible` are the
    outcomes that are counted, `new` those that are answered with 201.
    """

    more: Callable[[OutcomeT], Mapping[str, Any]]
    possible: tuple[Outcome, ...] = (Outcome.CREATED, Outcome.DUPLICATE, Outcome.REJECTED)
    new: tuple[Outcome, ...] = (Outcome.CREATED,)

    def one(self, written: BatchResult[OutcomeT]) -> Response:
        """Answer for the only item; raise what refused it."""
        outcome = written.outcomes[0]
        if outcome.error is not None:
            raise outcome.error
        status = 201 if outcome.outcome in self.new else 200
        headers = replay_headers(replayed=written.replayed)
        return answer(self._result(outcome), status=status, headers=headers)

    def many(
        self,
        checked: Sequence[RecordT | Problem],
        write: Callable[[tuple[RecordT, ...]], BatchResult[OutcomeT]],
    ) -> Response:
        """Write the good items, if there are any, and answer for all in their order."""
        good = tuple(item for item in checked if not isinstance(item, Problem))
        written = write(good) if good else None
        outcomes = iter(written.outcomes if written else ())
        results: list[dict[str, Any]] = []
        for index, item in enumerate(checked):
            shown = _rejected(item) if isinstance(item, Problem) else self._result(next(outcomes))
            results.append({"index": index, **shown})
        counts = dict.fromkeys(self.possible, 0)
        for result in results:
            counts[result["outcome"]] += 1
        headers = replay_headers(replayed=written is not None and written.replayed)
        return answer({"results": results, "counts": counts}, headers=headers)

    def _result(self, outcome: OutcomeT) -> dict[str, Any]:
        if outcome.error is not None:
            return _rejected(from_error(outcome.error))
        return {
            "outcome": outcome.outcome,
            "id": outcome.id,
            "position": outcome.position,
            **self.more(outcome),
        }


def one_or_many(value: object) -> str:
    """Return the tag of a body: `as-batch` when it has items, `as-one` otherwise."""
    return "as-batch" if isinstance(value, dict) and "items" in value else "as-one"


def checked_item(read: Callable[[object], RecordT], item: object) -> RecordT | Problem:
    """Return the record of an item, or what is wrong with it."""
    try:
        return read(item)
    except ValidationError as exc:
        return from_validation(exc.errors(include_url=False, include_input=False))


def _rejected(problem: Problem) -> dict[str, Any]:
    return {"outcome": Outcome.REJECTED, "error": problem.content(None)}

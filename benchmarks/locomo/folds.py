"""How well weights do on a conversation that had no part in choosing them.

Each conversation is left out in turn: the weights are chosen on the others' questions and rank its
own. It ranks again what a search with the default weights found; nothing is searched anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.locomo.weights import CUTS, Answered, chosen, ranked, weighed
from benchmarks.metrics import quality
from cairn.cli.client import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.locomo.corpus import Conversation

DECIMALS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """A conversation's questions, answered with the default weights."""

    name: str
    answered: tuple[Answered, ...]


def refuse_too_few(conversations: Sequence[Conversation]) -> None:
    """Raise Failure unless at least two are there and none twice: it would not be left out."""
    if len(conversations) < 2:
        raise Failure("Leaving one conversation out needs at least two of them.")
    if len({each.turns for each in conversations}) < len(conversations):
        raise Failure("A conversation is there twice, so it would not be left out.")


def answered(
    explained: Mapping[str, Any], evidence: frozenset[str], turns: Mapping[str, frozenset[str]]
) -> Answered:
    """Return the results of an explained search; a node that holds no turn stands for none."""
    nothing: frozenset[str] = frozenset()
    results = tuple(
        weighed(each["contributions"], turns.get(each["node_id"], nothing))
        for each in explained["results"]
    )
    return Answered(evidence=evidence, results=results)


def weights_of(recipe: Mapping[str, Any]) -> dict[str, float]:
    """Return the weights of legs and signals of a recipe as an explained search has it."""
    weights = {**recipe["weights"], **(recipe.get("second_pass") or recipe["signals"])}
    return {name: float(weight) for name, weight in weights.items() if weight}


def leave_one_out(
    folds: Sequence[Fold],
    weights: Mapping[str, float],
    done: Callable[[int], None],
    choose: Callable[[Sequence[Answered]], Mapping[str, float]] = chosen,
) -> dict[str, Any]:
    """Return quality over all questions with the default weights and with those chosen elsewhere.

    `folds` has the same for each conversation left out, with the weights chosen on the others:
    the default `weights` times the multipliers that `choose` returns. `done` hears of each.
    """
    default: list[_Ranked] = []
    elsewhere: list[_Ranked] = []
    shown: list[dict[str, Any]] = []
    for fold in folds:
        others = [item for other in folds if other is not fold for item in other.answered]
        multipliers = choose(others)
        before, after = _ranked(fold, {}), _ranked(fold, multipliers)
        default += before
        elsewhere += after
        shown.append(
            {
                "held_out": fold.name,
                "default": quality(before),
                "chosen": quality(after),
                "multipliers": dict(multipliers),
                "weights": {
                    name: round(weights.get(name, 1.0) * value, DECIMALS)
                    for name, value in multipliers.items()
                },
            }
        )
        done(1)
    return {
        "default": quality(default),
        "chosen": quality(elsewhere),
        "default_weights": dict(weights),
        "folds": shown,
    }


_Ranked = tuple[tuple[frozenset[str], ...], frozenset[str]]


def _ranked(fold: Fold, multipliers: Mapping[str, float]) -> list[_Ranked]:
    """Return the first results only, as many as a plain run asks for: the figures compare."""
    return [(ranked(each, multipliers)[: max(CUTS)], each.evidence) for each in fold.answered]

"""Shows what the LoCoMo benchmark found, as tables."""

from json import dumps
from typing import TYPE_CHECKING, Any

from benchmarks.show import show_values
from cairn.cli.options import table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console
    from rich.table import Table

    from benchmarks.locomo.calibration import Fit

RECALLS = ("recall_at_5", "recall_at_10", "recall_at_20")
QUALITY = ("questions", *RECALLS, "mrr", "ndcg_at_10")
SPEED = ("ingest_per_s", "embedder_per_s", "search_ms_p50", "search_ms_p95", "floor_ms_p50")


def show(console: "Console", measured: "Mapping[str, Any]") -> None:
    """Print quality, speed, and what else was asked for."""
    quality = table("category", *QUALITY)
    for name, values in {**measured["by_category"], "all": measured}.items():
        quality.add_row(name, *(str(values[metric]) for metric in QUALITY))
    console.print(quality)
    speed = table("measure", "value")
    for name in SPEED:
        speed.add_row(name, str(measured[name]))
    console.print(speed)
    if ablation := measured.get("ablation"):
        console.print(_ablated(measured, ablation))
    if routes := measured.get("routes"):
        console.print(_routed(routes))
    if adversarial := measured.get("adversarial"):
        console.print(_silent(adversarial["shares"]))
        console.print(_ablated(measured, {"relevance": adversarial["without_relevance"]}))
    if accuracy := measured.get("accuracy"):
        console.print(_accurate(accuracy))
    if folds := measured.get("leave_one_out"):
        console.print(_left_out(folds))
        console.print(_weights(folds))
    if fitted := measured.get("fitted"):
        show_values(console, fitted)


def show_fit(console: "Console", fit: "Fit", model: str) -> None:
    """Print the reliability of fitted constants, and how to use them."""
    found = table("relevance told", "seen", "results")
    for each in fit.bins:
        found.add_row(f"{each.told:.3f}", f"{each.seen:.3f}", f"{each.results:,}")
    console.print(found)
    console.print(
        f"Answered with nothing: {fit.answered_with_nothing:.3f} of what nothing answers, "
        f"for {fit.lost:.4f} of recall at 10."
    )
    constants = dumps(fit.constants(model))
    console.print(f"cairn settings set recall.calibration '{constants}'", soft_wrap=True)


def _accurate(accuracy: "Mapping[str, Any]") -> "Table":
    shown = table("answered rightly, as a model judges", "share")
    for name, share in {**accuracy["by_category"], "all": accuracy["all"]}.items():
        shown.add_row(name, str(share))
    return shown


def _ablated(measured: "Mapping[str, Any]", ablation: "Mapping[str, Mapping[str, Any]]") -> "Table":
    """Return the quality without each stage, and what that changes, in points."""
    found = table("without", *RECALLS)
    for name, values in ablation.items():
        found.add_row(name, *_changed(values, measured))
    return found


def _silent(shares: "Mapping[str, Mapping[str, Any]]") -> "Table":
    """Return the shares of questions without an answer that got none."""
    found = table("asked and not answerable", "questions", "answered with nothing")
    for name, values in shares.items():
        found.add_row(name, str(values["questions"]), str(values["answered_with_nothing"]))
    return found


def _routed(measured: "Mapping[str, Any]") -> "Table":
    """Return the quality by retrieval class with its route, and what that changes, in points."""
    found = table("class, routed", "questions", *RECALLS)
    for name, values in measured.items():
        questions = str(values["on"]["questions"])
        found.add_row(name, questions, *_changed(values["on"], values["off"]))
    return found


def _left_out(measured: "Mapping[str, Any]") -> "Table":
    """Return the quality with weights chosen on the others, and what that changes, in points."""
    found = table("weights chosen without", "questions", *RECALLS)
    for fold in measured["folds"]:
        questions = str(fold["chosen"]["questions"])
        found.add_row(fold["held_out"], questions, *_changed(fold["chosen"], fold["default"]))
    questions = str(measured["chosen"]["questions"])
    found.add_row("each in turn", questions, *_changed(measured["chosen"], measured["default"]))
    found.add_row(
        "(default weights)", questions, *(str(measured["default"][name]) for name in RECALLS)
    )
    return found


def _weights(measured: "Mapping[str, Any]") -> "Table":
    """Return each weight: the default one, then the one chosen without each conversation."""
    folds = measured["folds"]
    found = table("weight", "default", *(f"without {fold['held_out']}" for fold in folds))
    for name in sorted({name for fold in folds for name in fold["weights"]}):
        default = measured["default_weights"].get(name, 1.0)
        values = (fold["weights"].get(name, default) for fold in folds)
        found.add_row(name, f"{default:g}", *(f"{value:g}" for value in values))
    return found


def _changed(values: "Mapping[str, Any]", before: "Mapping[str, Any]") -> list[str]:
    return [
        f"{values[recall]} ({100 * (values[recall] - before[recall]):+.1f})" for recall in RECALLS
    ]

"""Shows the intents benchmark: a table over the methods, and recall by intent."""

from typing import TYPE_CHECKING, Any

from cairn.cli.options import table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

MEASURES = ("precision_at_5", "recall_at_5", "precision_at_10", "recall_at_10", "ms_p50", "ms_p95")


def show(console: "Console", measured: "Mapping[str, Any]") -> None:
    """Print both tables."""
    methods = measured["methods"]
    console.print(
        f"{measured['queries']} queries over {measured['events']} events; the intent a person gave "
        f"was among the inferred ones for {measured['intents_inferred']:.0%}"
    )
    whole = table("method", *MEASURES)
    for name, found in methods.items():
        whole.add_row(name, *(str(found[measure]) for measure in MEASURES))
    console.print(whole)
    by_intent = table("recall at 10 by intent", "queries", *methods)
    for intent, found in next(iter(methods.values()))["by_intent"].items():
        values = (str(each["by_intent"][intent]["recall_at_10"]) for each in methods.values())
        by_intent.add_row(intent, str(found["queries"]), *values)
    console.print(by_intent)

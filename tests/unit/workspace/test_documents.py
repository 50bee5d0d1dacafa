"""Documents of settings: what is refused, what is read all the same, and where values are from."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.graph.edge import Relation
from cairn.graph.intent_weights import INTENT_WEIGHTS, Intent
from cairn.kernel.errors import ValidationFailed
from cairn.recall.recipes import LEGS, RECIPES
from cairn.recall.switches import SIGNALS, STAGES
from cairn.workspace.documents import (
    MAX_CHARS,
    checked,
    differences,
    merged,
    read,
    shown,
    usable,
)
from cairn.workspace.settings import (
    LEG_NAMES,
    RECIPE_NAMES,
    SIGNAL_NAMES,
    STAGE_NAMES,
    WorkspaceSettings,
)


def test_the_names_are_those_of_retrieval() -> None:
    assert set(RECIPE_NAMES) == set(RECIPES)
    assert set(LEG_NAMES) == set(LEGS)
    assert set(SIGNAL_NAMES) == set(SIGNALS)
    assert set(STAGE_NAMES) == set(STAGES)


def test_a_patch_is_laid_over_a_document_and_null_takes_away() -> None:
    document = {"recall": {"rrf_k": 10, "stages": {"graph": True}}, "envelope": {"facts": 1}}
    patch = {"recall": {"stages": {"graph": None}, "recipe": "memory"}, "envelope": None}
    assert merged(document, patch) == {"recall": {"rrf_k": 10, "recipe": "memory"}}
    assert document["envelope"] == {"facts": 1}


NAN, INFINITE = float("nan"), float("inf")
WRONG: list[tuple[Any, tuple[str, ...]]] = [
    ({"recal": {}, "recall": 5}, ("recal", "recall")),
    ({"recall": {"speed": 1}}, ("recall.speed",)),
    ({"recall": {"recipe": "best"}}, ("recall.recipe",)),
    ({"recall": {"recipe": ["default"]}}, ("recall.recipe",)),
    ({"recall": {"stages": ["gate"]}}, ("recall.stages",)),
    ({"recall": {"stages": {"gate": 1}}}, ("recall.stages.gate",)),
    ({"recall": {"stages": {"magic": True}}}, ("recall.stages.magic",)),
    ({"recall": {"weights": {"vector": -1}}}, ("recall.weights.vector",)),
    ({"recall": {"weights": {"vector": True}}}, ("recall.weights.vector",)),
    ({"recall": {"weights": {"vector": NAN}}}, ("recall.weights.vector",)),
    ({"recall": {"intent_weights": {"why": 5}}}, ("recall.intent_weights.why",)),
    (
        {"recall": {"intent_weights": {"why": {"CAUSED_BY": 11}}}},
        ("recall.intent_weights.why.CAUSED_BY",),
    ),
    (
        {"recall": {"intent_weights": {"why": dict.fromkeys(Relation, 0)}}},
        ("recall.intent_weights",),
    ),
    ({"recall": {"public_subscriptions": "yes"}}, ("recall.public_subscriptions",)),
    *[
        ({"recall": {name: value}}, (f"recall.{name}",))
        for name, values in {
            "decay_factor": (0, 1.01, -1, INFINITE, NAN, "0.9", True),
            "rrf_k": (0, 10_001, 1.5, 2**70, "60", True),
            "graph_search_decay": (0, 2, NAN),
            "causal_boost": (0.5, 11, INFINITE),
            "max_depth": (0, 11, 2.0),
        }.items()
        for value in values
    ],
    ({"models": {"chat": "gpt"}}, ("models.chat",)),
    ({"models": {"chat": "openai:" + "m" * 2_000}}, ("models.chat",)),
    ({"models": {"budgets": {"day_usd": -1}}}, ("models.budgets.day_usd",)),
    ({"models": {"budgets": {"day_usd": "much"}}}, ("models.budgets.day_usd",)),
    ({"models": {"budgets": {"day_usd": "NaN"}}}, ("models.budgets.day_usd",)),
    ({"models": {"budgets": {"day_usd": "1e400"}}}, ("models.budgets.day_usd",)),
    ({"models": {"budgets": {"week_usd": 1}}}, ("models.budgets.week_usd",)),
    ({"models": {"rates": {"m": {"input": 1}}}}, ("models.rates.m.output",)),
    ({"models": {"rates": {"a b": {"input": 1, "output": 1}}}}, ("models.rates.a b",)),
    (
        {"models": {"options": {"planner": {"temperature": 9}}}},
        ("models.options.planner.temperature",),
    ),
    ({"models": {"options": {"poetry": {}}}}, ("models.options.poetry",)),
    *[({"envelope": {"facts": value}}, ("envelope.facts",)) for value in (-1, 51, "9", True, 1.0)],
    ({"safety": {"redaction": "hippa"}}, ("safety.redaction",)),
]


@pytest.mark.parametrize(("document", "paths"), WRONG, ids=str)
def test_what_is_no_setting_or_no_value_of_one_is_refused_with_its_path_and_left_out_when_read(
    document: dict[str, Any], paths: tuple[str, ...]
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        checked(document, document)
    assert tuple(sorted(error.location for error in refused.value.errors)) == paths
    assert usable(document)[1] == paths


def test_the_rest_of_a_document_holds_where_a_part_cannot_be_used() -> None:
    found = read({"recall": {"recipe": "gone", "rrf_k": 5}, "later": {"x": 1}})
    assert (found.settings.recall.recipe, found.settings.recall.rrf_k) == (None, 5)
    assert found.ignored == ("later", "recall.recipe")


def test_a_redaction_profile_nobody_knows_takes_out_everything() -> None:
    for document in ({"safety": {"redaction": "hippa"}}, {"safety": 7}):
        assert read(document).settings.safety.redaction == "hipaa"


def test_a_reset_of_what_is_no_setting_is_refused() -> None:
    with pytest.raises(ValidationFailed) as refused:
        checked({}, {"recal": None, "recall": {"rrf": None, "rrf_k": None, "stages": {"x": None}}})
    assert [error.location for error in refused.value.errors] == ["recal", "recall.rrf"]


def test_a_document_that_is_too_long_is_refused() -> None:
    names = (f"{place}{'m' * 198}" for place in range(100))
    rates = {name: {"input": "0." + "1" * 60, "output": "0." + "1" * 60} for name in names}
    with pytest.raises(ValidationFailed, match=str(MAX_CHARS)):
        checked({"models": {"rates": rates}}, {})


def test_values_are_shown_with_where_they_are_from() -> None:
    values, sources = shown({"recall": {"rrf_k": 10}}, {"recall": {"rrf_k": 20, "max_depth": 3}})
    recall = values["recall"]
    assert (recall["rrf_k"], recall["max_depth"], recall["decay_factor"]) == (10, 3, 0.98)
    told = [sources[f"recall.{name}"] for name in ("rrf_k", "max_depth", "decay_factor")]
    assert told == ["workspace", "environment", "default"]


def test_differences_name_paths_with_both_values() -> None:
    assert differences({"a": {"b": 1, "c": {}}}, {"a": {"b": 2}}) == [
        {"path": "a.b", "before": "1", "after": "2"},
        {"path": "a.c", "before": "{}", "after": None},
    ]


def test_own_intent_weights_lie_over_the_published_matrix() -> None:
    found = read({"recall": {"intent_weights": {"why": {"CAUSED_BY": 9}}}}).settings.recall.matrix
    assert found is not None
    assert found[Intent.WHY][Relation.CAUSED_BY] == 9.0
    assert found[Intent.WHEN] == INTENT_WEIGHTS[Intent.WHEN]
    assert WorkspaceSettings().recall.matrix is None

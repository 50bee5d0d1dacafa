"""Subgraphs over PostgreSQL start from what matches, and from nothing a reader may not see."""

# pyright: basic

from typing import Any

import pytest
from tests.integration.storage.test_recall_walk import (  # noqa: F401 - fixtures
    QUESTION,
    recall,
    root,
    stranger,
    world,
)
from tests.support.world import World

from cairn.bootstrap.recall import subgraph
from cairn.kernel.access import Role, Scope
from cairn.recall.recall import Recall
from cairn.recall.walks.subgraph import Subgraph, SubgraphRequest


def ask(recalled: Recall, within: World, who: Any = None, **asked: Any) -> Subgraph:
    query = subgraph(within.pool, recalled)
    return query(who or within.admin, SubgraphRequest(**({"query": QUESTION} | asked)))  # pyright: ignore


def texts(found: Subgraph) -> set[str]:
    return {node.node.text for node in found.nodes}


def test_a_question_that_names_nothing_starts_from_what_it_is_like(
    world: World,  # noqa: F811
    recall: Recall,  # noqa: F811
) -> None:
    found = ask(recall, world)
    assert "the harbour opens at seven" in texts(found)
    assert found.exploration.matched
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("slug", "own"), [("bot", {"the harbour bar for bots"}), ("nobody", set())]
)
def test_an_agent_starts_from_its_own_only(
    world: World,  # noqa: F811
    recall: Recall,  # noqa: F811
    slug: str,
    own: set[str],
) -> None:
    public = frozenset({Scope.PUBLIC})
    who = world.as_other(agent_slug=slug, role=Role.PUBLIC, allowed_scopes=public)
    found = ask(recall, world, who=who)
    assert {
        node.node.text for node in found.nodes if node.node.id in found.exploration.seed_ids
    } == own
    assert "the harbour of the other bot" not in texts(found)


def test_another_workspace_matches_nothing(
    world: World,  # noqa: F811
    stranger: World,  # noqa: F811
    recall: Recall,  # noqa: F811
) -> None:
    assert texts(ask(recall, world, who=stranger.admin)) == set()


def test_before_anything_was_known_nothing_matches(
    world: World,  # noqa: F811
    recall: Recall,  # noqa: F811
) -> None:
    assert texts(ask(recall, world, as_of=0)) == set()

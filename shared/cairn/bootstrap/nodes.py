"""What the API needs of nodes and entities: writing, correcting and reading them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.api.node_services import EntityServices, NodeServices
from cairn.nodes.changes import CompileTruth, DeleteNode, GraphWriting, Relate
from cairn.nodes.entities import CorrectEntities
from cairn.nodes.read import BrowseNodes
from cairn.nodes.write import WriteNodes

if TYPE_CHECKING:
    from cairn.adapters.postgres.database import Database
    from cairn.memories.remember import Remember


def node_services(
    opened: Database, transactions: StoreTransactions, remember: Remember
) -> tuple[NodeServices, EntityServices]:
    """Build them beside `remember`, whose keys, queue, clock and ids they share."""
    writing = GraphWriting(
        transactions=transactions,
        resolver=remember.resolver,
        cipher=remember.cipher,
        dispatcher=remember.dispatcher,
        clock=remember.clock,
        new_id=remember.new_id,
    )
    write = WriteNodes(
        transactions=transactions,
        resolver=remember.resolver,
        cipher=remember.cipher,
        dispatcher=remember.dispatcher,
        clock=remember.clock,
        new_id=remember.new_id,
    )
    browse = BrowseNodes(transactions=StoreTransactions(opened))
    correct = CorrectEntities(writing=writing)
    nodes = NodeServices(
        write=write,
        relate=Relate(writing=writing),
        compile=CompileTruth(writing=writing),
        delete=DeleteNode(writing=writing),
        get=browse.node,
        page=browse.nodes,
    )
    entities = EntityServices(
        get=browse.entity,
        page=browse.entities,
        add_alias=correct.add_alias,
        remove_alias=correct.remove_alias,
        merge=correct.merge,
        split=correct.split,
    )
    return nodes, entities

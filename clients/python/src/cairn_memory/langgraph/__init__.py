"""LangGraph over Cairn: its long-term store, and its checkpoints.

Needs `langgraph-checkpoint`: install the client with its extra `langgraph`, or beside langgraph.
"""

from cairn_memory.langgraph.checkpoints import CairnSaver
from cairn_memory.langgraph.store import CairnStore

__all__ = ["CairnSaver", "CairnStore"]

"""Memory for AI agents: the client of a Cairn deployment.

`Memory` remembers, recalls and corrects; `AsyncMemory` does the same with `await`. `operations` has
every call of the HTTP API and `models` its types; `errors` is what may be raised.
"""

from cairn_memory import errors, models, operations
from cairn_memory._async import AsyncMemory
from cairn_memory._sync import Memory

__all__ = ["AsyncMemory", "Memory", "errors", "models", "operations"]

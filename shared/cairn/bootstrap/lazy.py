"""Something that is built when it is first used: a cold start builds what its request needs."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_BUILDING = RLock()
"""One at a time: what is built may need something else that is built later."""


class _Lazy:
    """Stands for what `make` returns, which is made once. A failure is tried again."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make: Callable[[], Any] | None = make
        self._made: Any = None

    def _it(self) -> Any:
        if self._make is not None:
            with _BUILDING:
                if self._make is not None:
                    self._made = self._make()
                    self._make = None
        return self._made

    def __getattr__(self, name: str) -> Any:
        return getattr(self._it(), name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._it()(*arguments, **named)


def lazy(make: Callable[[], T]) -> T:
    """Return a stand-in for `make()`, which is called when the stand-in is first used or called."""
    return cast("T", _Lazy(make))

"""Something that is built when it is first used: a cold start builds what its request needs."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

T = TypeVar("T")

_BUILDING = RLock()
"""One at a time: what is built may need something else that is built later."""


class part(Generic[T]):
    """A property that is computed once, by one thread; `functools.cached_property` has no lock."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T:
        """Compute it, and put it where the next look-up finds it first."""
        if instance is None:
            return self
        values = vars(instance)
        if self._name not in values:
            with _BUILDING:
                if self._name not in values:
                    values[self._name] = self._make(instance)
        return values[self._name]


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

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._it()(*arguments, **keywords)


def lazy(make: Callable[[], T]) -> T:
    """Return a stand-in for `make()`, which is called when the stand-in is first used or called."""
    return cast("T", _Lazy(make))

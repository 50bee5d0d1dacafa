"""Errors as they leave a step: what nobody expected tells its type and its place, never its words.

What a step raises stands in the history of its execution, which is neither sealed nor forgotten,
and words of libraries repeat values. Cairn's own errors are codes and sentences and stay as they
are.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import PurePath
from traceback import extract_tb
from typing import TYPE_CHECKING

from cairn.kernel.errors import CairnError

if TYPE_CHECKING:
    from collections.abc import Generator

PACKAGE = PurePath(__file__).parents[2]
"""Ours, whatever the folder is called that somebody cloned the project into."""


@contextmanager
def redact_errors() -> Generator[None]:
    """Raise an unexpected error under its own name, with the place it came from for its words."""
    try:
        yield
    except CairnError:
        raise
    except Exception as error:  # noqa: BLE001 -- whatever it is
        plain_error = type(type(error).__name__, (Exception,), {})
        raise plain_error(_place(error)) from None


def _place(error: Exception) -> str:
    """Return the file and line of ours that an error came through last."""
    frames = [item for item in extract_tb(error.__traceback__) if item.filename != __file__]
    ours = [frame for frame in frames if PurePath(frame.filename).is_relative_to(PACKAGE)]
    return ", ".join(f"{PurePath(our.filename).name}:{our.lineno}" for our in (ours or frames)[-1:])

"""How much of the processor a call takes, for tests that hold how it grows. Not a benchmark."""

import gc
import time
from collections.abc import Callable


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return the seconds of this process for a call: the better of two, with no collection in it.

    A collection looks at all that every test before it has left, which is no part of the call; that
    is why there is none before it either.
    """
    gc.disable()
    try:
        return min(_once(call), _once(call))
    finally:
        gc.enable()


def _once(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began

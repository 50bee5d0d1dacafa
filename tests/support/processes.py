"""Looking at processes that may end at any moment, also while one looks."""

import psutil


def lives(pid: int) -> bool:
    """Whether a process still does anything; one that nobody has buried yet does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False

"""How talking to a connector goes wrong, inside the host. Callers see the errors of `port`."""

from __future__ import annotations


class Fault(Exception):
    """Base of all; `code` is stable, `detail` a cleaned text for the operator or None."""

    code = "connector-fault"

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail or self.code)
        self.detail = detail


class NotStarted(Fault):
    """It did not get to answer the handshake."""

    code = "connector-not-started"


class NotSent(Fault):
    """The call did not reach it: nothing happened."""

    code = "connector-unreachable"


class Lost(Fault):
    """It went away, or said what is no answer, after a call was sent."""

    code = "connector-crashed"


class TimedOut(Fault):
    """It did not answer in time."""

    code = "tool-timeout"


class Unauthorised(Fault):
    """It refuses our credentials, or its own are refused."""

    code = "connector-unauthorised"


class Refused(Fault):
    """It answered with an error of the protocol: its own word, nothing else is known."""

    code = "tool-refused"

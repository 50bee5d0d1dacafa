"""The base of every type of the API."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A record of the API. Fields of a later server are kept; what was not set is not sent."""

    model_config = ConfigDict(
        extra="allow",
        protected_namespaces=(),
        defer_build=True,  # there are three hundred; a program uses a few
    )

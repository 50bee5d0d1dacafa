"""Every pydantic model finds the names in its annotations: none stands for type checkers alone."""

import importlib
import pkgutil
from collections.abc import Iterator

import pydantic

import cairn

CONFIGURED = {"cairn.api.asgi"}
"""Makes the application of the environment as it is imported."""


def models(base: type[pydantic.BaseModel]) -> Iterator[type[pydantic.BaseModel]]:
    for model in base.__subclasses__():
        yield model
        yield from models(model)


def test_a_model_is_complete_when_its_module_is_imported() -> None:
    for module in pkgutil.walk_packages(cairn.__path__, "cairn."):
        if module.name not in CONFIGURED:
            importlib.import_module(module.name)
    ours = [model for model in models(pydantic.BaseModel) if model.__module__.startswith("cairn.")]
    incomplete = [
        f"{model.__module__}.{model.__name__}"
        for model in ours
        if not model.__pydantic_complete__ and not model.model_rebuild(raise_errors=False)
    ]
    assert len(ours) > 100
    assert incomplete == []

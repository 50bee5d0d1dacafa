"""The dependency groups as Lambda layers, from the folders that `layers/build.py` makes.

They are brought up to date with the lock first, which needs no network when nothing changed: a
layer that is older than the lock can never be deployed. Each stack makes the layers its own
functions use: a version lent to another stack could not be replaced while that stack uses it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct
from layers.build import build

from infra.cdk.config import MODEL, SynthRefused
from infra.cdk.constructs.cairn_function import RUNTIME

if TYPE_CHECKING:
    from collections.abc import Iterable

    from infra.cdk.config import Config


@cache
def built(model: Path | None) -> Path:
    """Return the layers' folder, brought up to date once a synthesis."""
    return build(model_folder=model)


def _own_model(config: Config) -> Path | None:
    """Return the folder of a model other than the default; SynthRefused when it holds none."""
    folder = Path(config.model_dir)
    if folder == MODEL:
        return None
    missing = [name for name in ("model.onnx", "tokenizer.json") if not (folder / name).is_file()]
    if missing:
        raise SynthRefused(f"model_dir={folder}: there is no {' and no '.join(missing)} in it")
    return folder


class DependencyLayers(Construct):
    """One layer a dependency group, made when the first function of this stack asks for it."""

    def __init__(self, scope: Construct, *, config: Config) -> None:
        """The folders are `config.layers/<group>`, or those that are built from the lock."""
        super().__init__(scope, "Layers")
        self._folder = config.layers or built(_own_model(config))
        self._prefix = Stack.of(self).stack_name
        self._made: dict[str, lambda_.ILayerVersion] = {}

    def of(self, groups: Iterable[str]) -> list[lambda_.ILayerVersion]:
        """The layers of `groups`, in that order; SynthRefused when one was not built."""
        return [self._layer(group) for group in groups]

    def _layer(self, group: str) -> lambda_.ILayerVersion:
        if group not in self._made:
            folder = self._folder / group
            if not folder.is_dir():
                raise SynthRefused(f"there is no layer {group} in {self._folder}")
            self._made[group] = lambda_.LayerVersion(
                self,
                group.capitalize(),
                layer_version_name=f"{self._prefix}-{group}",
                description=f"The dependency group {group} of uv.lock",
                code=lambda_.Code.from_asset(str(folder)),
                compatible_runtimes=[RUNTIME],
                compatible_architectures=[lambda_.Architecture.ARM_64],
                removal_policy=RemovalPolicy.DESTROY,
            )
        return self._made[group]

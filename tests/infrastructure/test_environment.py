"""CDK passes each function exactly the fields of its settings model: no more, no fewer."""

import pytest
from infra.cdk.constructs.cairn_function import OPTIONAL
from infra.cdk.functions import discover
from pydantic_settings import BaseSettings
from tests.infrastructure.assembly import Assembly

import cairn.settings

SETTINGS: dict[str, type[BaseSettings]] | None = getattr(cairn.settings, "SETTINGS", None)
NAMES = sorted(discover())
OPENAI = {name for name in OPTIONAL if "OPENAI" in name}
ONLY_ON_AWS = {"CAIRN_KMS_KEY_ARN"}

needs_settings = pytest.mark.skipif(SETTINGS is None, reason="cairn.settings has no SETTINGS yet")


def environment_names(model: type[BaseSettings]) -> set[str]:
    """The environment variables `model` reads."""
    prefix = model.model_config.get("env_prefix", "")
    return {
        str(field.validation_alias or f"{prefix}{name}").upper()
        for name, field in model.model_fields.items()
    }


def passed(assembly: Assembly, name: str) -> set[str]:
    (function,) = (
        function
        for function in assembly.resources("AWS::Lambda::Function")
        if function.properties["FunctionName"].endswith(f"-{name}")
    )
    return set(function.properties["Environment"]["Variables"])


@needs_settings
def test_there_is_one_model_for_each_function() -> None:
    assert SETTINGS is not None
    assert set(SETTINGS) == set(NAMES)


@needs_settings
@pytest.mark.parametrize("name", NAMES)
def test_a_function_declares_the_fields_of_its_model(name: str) -> None:
    assert SETTINGS is not None
    assert set(discover()[name].settings) == environment_names(SETTINGS[name])


@needs_settings
@pytest.mark.parametrize("name", NAMES)
def test_what_may_be_missing_is_optional_in_the_model(name: str) -> None:
    assert SETTINGS is not None
    model = SETTINGS[name]
    prefix = model.model_config.get("env_prefix", "")
    required = {
        f"{prefix}{field}".upper()
        for field, info in model.model_fields.items()
        if info.is_required()
    }
    assert not required & OPTIONAL


@pytest.mark.parametrize("name", NAMES)
def test_a_function_gets_what_it_declares(local: Assembly, prod: Assembly, name: str) -> None:
    declared = set(discover()[name].settings)
    assert passed(prod, name) == declared - OPENAI
    assert passed(local, name) == declared - OPENAI - ONLY_ON_AWS

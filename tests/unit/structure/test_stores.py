"""Each part of `Stores` is there, and of the class that its annotation names."""

from importlib import import_module

from cairn.adapters.postgres import store_transactions
from cairn.kernel.stores import Stores


def test_every_part_that_a_use_case_may_ask_for_is_made_of_its_class() -> None:
    made = {name: path.rpartition(".") for name, path in store_transactions.PARTS.items()}
    assert {name: part for name, (_, _, part) in made.items()} == Stores.__annotations__
    package = store_transactions.__package__
    for module, _, part in made.values():
        assert hasattr(import_module(f"{package}.{module}"), part)


def test_a_store_has_one_name() -> None:
    paths = list(store_transactions.PARTS.values())
    assert [path for path in paths if paths.count(path) > 1] == []

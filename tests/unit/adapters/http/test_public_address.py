"""Which addresses lead outside every private network, however they are written."""

import pytest

from cairn.adapters.http.public_address import is_public


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700::1111", "64:ff9b::5db8:d822"])
def test_a_public_address_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "fec0::1",
        "::ffff:0:7f00:1",
        "::ffff:10.0.0.7",
        "::7f00:1",
        "2001:0:7f00:1::1",
        "400::1",
        "ff02::1",
        "fe80::1%eth0",
        "2130706433",
        "",
    ],
    ids=[
        "site-local",
        "translated",
        "mapped",
        "compatible",
        "teredo",
        "reserved",
        "multicast",
        "with a zone",
        "decimal",
        "nothing",
    ],
)
def test_an_address_of_a_network_or_of_nobody_is_not(address: str) -> None:
    assert not is_public(address)

"""The rules for addresses, names and ports, each alone and against all others."""

from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browsers.egress import ip_rules

BLOCKED_IPV4 = (
    "0.0.0.0 0.255.255.255 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 "
    "127.8.8.8 127.255.255.255 168.63.129.16 169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 "
    "192.0.0.192 192.0.2.2 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1 192.168.255.255 192.175.48.1 "
    "198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 224.0.0.251 239.255.255.255 240.0.0.1 "
    "255.255.255.255"
).split()
PUBLIC_IPV4 = (
    "1.0.0.1 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 "
    "168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 "
    "192.0.1.0 192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 "
    "198.20.0.0 223.255.255.255"
).split()
BLOCKED_IPV6 = (
    ":: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1 "
    "64:ff9b::808:808 64:ff9b:1::1 100::1 2001::1 2001:2::1 2001:10::1 2001:20::1 2001:1ff::1 2001:db8::1 "
    "2002:7f00:1:: 2002:808:808:: 2620:4f:8000::1 3fff::1 3fff:fff::1 4000::1 5f00::1 fc00::1 fd00::2 "
    "fd00:ec2::254 fe80::1 fec0::1 ff02::1 ff0e::1 2a00:1450:4001::5efe:7f00:1 2a00:1450:4001::200:5efe:a00:1"
).split()
PUBLIC_IPV6 = (
    "2000::1 2001:200::1 2001:4860:4860::8888 2001:db7::1 2001:db9::1 2003::1 2606:4700::1111 "
    "2620:4f:7fff::1 2620:4f:8001::1 2a00:1450:4001::1 3ffe::1 ::ffff:8.8.8.8 2a00:1450:4001::5efe:808:808"
).split()


@pytest.mark.parametrize("text", BLOCKED_IPV4 + BLOCKED_IPV6)
def test_an_address_that_is_not_public_is_refused(text: str) -> None:
    assert ip_rules.find_refusal(ipaddress.ip_address(text)) is not None


@pytest.mark.parametrize("text", PUBLIC_IPV4 + PUBLIC_IPV6)
def test_public_address_is_allowed(text: str) -> None:
    assert ip_rules.find_refusal(ipaddress.ip_address(text)) is None


@pytest.mark.parametrize("network", ip_rules.SPECIAL_IPV4 + ip_rules.SPECIAL_IPV6, ids=str)
def test_a_blocked_network_is_blocked_from_its_first_to_its_last_address(network: ip_rules.Network) -> None:
    for address in (network[0], network[network.num_addresses // 3], network[-1]):
        assert ip_rules.find_refusal(address) is not None


@given(st.ip_addresses(v=4))
def test_ipv4_mapped_address_is_checked_like_ipv4(address: IPv4Address) -> None:
    mapped = IPv6Address(int(IPv6Address("::ffff:0:0")) | int(address))
    assert ip_rules.find_refusal(mapped) == ip_rules.find_refusal(address)


@given(st.ip_addresses(v=4), st.sampled_from(("64:ff9b::", "2002::", "::", "64:ff9b:1::")))
def test_other_ipv6_forms_of_an_ipv4_address_are_blocked(address: IPv4Address, prefix: str) -> None:
    shift = 80 if prefix == "2002::" else 0
    assert ip_rules.find_refusal(IPv6Address(int(IPv6Address(prefix)) | int(address) << shift)) is not None


@given(st.ip_addresses())
def test_addresses_that_python_calls_private_are_blocked(address: ip_rules.Address) -> None:
    if address.is_private or address.is_loopback or address.is_link_local or address.is_multicast:
        assert ip_rules.find_refusal(address) is not None or ip_rules.unmap_ipv4(address) != address


@given(st.ip_addresses(v=6))
def test_ipv6_address_outside_the_public_block_is_blocked(address: IPv6Address) -> None:
    if address not in ip_rules.PUBLIC_IPV6 and address.ipv4_mapped is None:
        assert ip_rules.find_refusal(address) is not None


@given(st.ip_addresses())
def test_an_allowed_network_allows_exactly_its_own_addresses(address: ip_rules.Address) -> None:
    allowed = ip_rules.parse_networks(["10.1.0.0/16", "fd00:1::/32"])
    inside = any(ip_rules.unmap_ipv4(address) in network for network in allowed)
    assert inside or ip_rules.find_refusal(address, allowed) == ip_rules.find_refusal(address)


@pytest.mark.parametrize("text", ["10.1.2.3", "::ffff:10.1.2.3", "fd00:1::5"])
def test_address_in_an_allowed_network_is_allowed(text: str) -> None:
    allowed = ip_rules.parse_networks(["10.1.0.0/16", "fd00:1::/32"])
    assert ip_rules.find_refusal(ipaddress.ip_address(text), allowed) is None


def test_allowed_nat64_checks_the_embedded_ipv4_address() -> None:
    allowed = ip_rules.parse_networks(["64:ff9b::/96"])
    assert ip_rules.find_refusal(IPv6Address("64:ff9b::808:808"), allowed) is None
    assert ip_rules.find_refusal(IPv6Address("64:ff9b::7f00:1"), allowed) is not None


def test_an_address_with_a_scope_is_refused_even_where_its_network_is_allowed() -> None:
    allowed = ip_rules.parse_networks(["fe80::/10"])
    assert ip_rules.find_refusal(IPv6Address("fe80::1%eth0"), allowed) is not None


def test_reason_contains_no_address() -> None:
    for text in BLOCKED_IPV4 + BLOCKED_IPV6:
        assert text not in str(ip_rules.find_refusal(ipaddress.ip_address(text)))


@pytest.mark.parametrize(
    "spelling", ["127.0.0.1", "127.1", "2130706433", "0177.0.0.1", "0x7f000001", "0x7f.1", "0177.0x0.1", "017700000001"]
)
def test_every_spelling_of_an_ipv4_address_is_the_same_address(spelling: str) -> None:
    assert ip_rules.parse_address(spelling) == IPv4Address("127.0.0.1")


@given(st.ip_addresses(v=4))
def test_decimal_octal_and_hexadecimal_spell_the_same_address(address: IPv4Address) -> None:
    number = int(address)
    for spelling in (str(number), f"0{number:o}", hex(number), str(address)):
        assert ip_rules.parse_address(spelling) == address


@pytest.mark.parametrize("name", ["example.com", "xn--bcher-kva.example", "a_b.example", "1.example", "dead.beef"])
def test_a_name_is_no_address(name: str) -> None:
    assert ip_rules.parse_address(name) is None


@pytest.mark.parametrize(
    "host",
    [
        *("", ".", "a..b", "a b", "a/b", "a\x00b", "a%2e", "a@b", "[::1", "bücher.example", "127.0.0.1\n"),
        *("1.2.3.4.5", "256.1.1.1", "08.1.1.1", "a.0x", "1.2.3.4 x"),
        *("x" * 64 + ".example", "a." * 127 + "ab"),
    ],
)
def test_host_that_is_neither_name_nor_address_is_an_error(host: str) -> None:
    with pytest.raises(ValueError):
        ip_rules.parse_address(ip_rules.normalize_host(host) if host != "[::1" else host)


@given(st.text(max_size=30))
def test_any_text_is_a_name_an_address_or_an_error(text: str) -> None:
    host = ip_rules.normalize_host(text)
    try:
        found = ip_rules.parse_address(host)
    except ValueError:
        return
    assert found is not None or host.isascii()


def test_names_are_compared_without_case_brackets_and_final_dot() -> None:
    assert ip_rules.normalize_host("WWW.Example.COM.") == "www.example.com"
    assert ip_rules.normalize_host("[::1]") == "::1"


@pytest.mark.parametrize("name", ["local", "printer.local", "metadata.google.internal", "nas.home.arpa", "internal"])
def test_names_of_local_networks_are_special(name: str) -> None:
    assert ip_rules.is_special_name(name)


@pytest.mark.parametrize("name", ["example.com", "local.example.com", "notlocal", "international", "homearpa"])
def test_names_that_only_resemble_local_names_are_not_special(name: str) -> None:
    assert not ip_rules.is_special_name(name)


@pytest.mark.parametrize("name", ["localhost", "a.localhost"])
def test_names_of_this_machine_are_loopback_names(name: str) -> None:
    assert ip_rules.is_loopback_name(name)
    assert not ip_rules.is_loopback_name(name + ".example")


@pytest.mark.parametrize("port", [0, 1, 22, 25, 53, 110, 143, 587, 2049, 6000, 6667, 10080])
def test_ports_of_other_protocols_are_unsafe(port: int) -> None:
    assert port in ip_rules.UNSAFE_PORTS


@pytest.mark.parametrize("port", [80, 443, 3000, 8000, 8080, 8443, 9999])
def test_ports_of_the_web_are_safe(port: int) -> None:
    assert port not in ip_rules.UNSAFE_PORTS


@pytest.mark.parametrize("text", ["10.0.0.0/33", "10.0.0.1/8", "example.com", "", "10.0.0.*"])
def test_error_for_an_invalid_network_shows_the_format(text: str) -> None:
    with pytest.raises(ValueError, match=r"SEARCH_MCP_ALLOW_NETS: .* Write networks such as 10\.1\.0\.0/16"):
        ip_rules.parse_networks([text])

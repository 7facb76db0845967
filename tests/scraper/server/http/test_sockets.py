"""The sockets, and what is said when they cannot be had."""

from __future__ import annotations

import contextlib
import socket
import sys

import pytest

from scraper.server.access import ServerStartError
from scraper.server.http.uvicorn_server import ignore_new_connections, open_sockets
from tests.scraper.process import Program, running
from tests.scraper.server.conftest import STAND_IN


def ports_of(host: str, port: int) -> list[int]:
    """Return the ports that were opened."""
    with open_sockets(host, port) as sockets:
        return [opened.getsockname()[1] for opened in sockets]


def test_port_zero_takes_a_free_one() -> None:
    (port,) = ports_of("127.0.0.1", 0)
    assert port > 0


def test_a_name_with_several_addresses_has_one_port() -> None:
    assert len(set(ports_of("localhost", 0))) == 1


def test_a_port_in_use_is_reported_in_one_line() -> None:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ServerStartError, match=f"^Port {port} on 127.0.0.1 is already in use.*--port.$"):
            ports_of("127.0.0.1", port)


@pytest.mark.parametrize("host", ["192.0.2.1", "nowhere.invalid"])
def test_a_foreign_address_is_reported(host: str) -> None:
    with pytest.raises(ServerStartError, match=f"^Cannot listen on {host} port 80: "):
        ports_of(host, 80)


def test_an_address_of_a_name_that_this_machine_lacks_costs_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    # Containers without IPv6 have `localhost` at ::1 all the same.
    names = [(socket.AF_INET6, 0, 0, "", ("2001:db8::1", 0)), (socket.AF_INET, 0, 0, "", ("127.0.0.1", 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: names)
    assert len(ports_of("localhost", 0)) == 1
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: names[:1])
    with pytest.raises(ServerStartError, match=r"^Cannot listen on localhost port 80: "):
        ports_of("localhost", 80)


async def test_a_server_whose_port_is_in_use_reports_it_and_exits(server: Program) -> None:
    port = server.base.rsplit(":", 1)[1]
    async with running(*STAND_IN, "http", f"--port={port}") as program:
        assert await program.ended() == 1
        assert len(program.said) == 1
        assert "already in use" in program.said[0]


def test_small_parts_of_an_answer_do_not_wait_for_each_other() -> None:
    with open_sockets("127.0.0.1", 0) as sockets:
        # What asyncio looks at before it turns Nagle's algorithm off for a connection.
        assert [opened.proto for opened in sockets] == [socket.IPPROTO_TCP]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux can do it")
def test_who_came_before_can_be_accepted_when_others_are_ignored() -> None:
    with open_sockets("127.0.0.1", 0) as (door,):
        address = door.getsockname()
        with socket.create_connection(address) as before:
            ignore_new_connections(door)
            with pytest.raises(TimeoutError):
                socket.create_connection(address, timeout=0.2)
            accepted, name = door.accept()
            with accepted:
                assert name == before.getsockname()
                before.sendall(b"here")
                assert accepted.recv(4) == b"here"
        door.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, timeout=5)

"""The compose file is valid and matches the server and its image."""

from __future__ import annotations

import copy
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from scraper.settings import Settings, setting_table, unknown_variables
from tests.deploy.files import DEPLOY, check_compose, compose
from tests.scraper.process import REPOSITORY

SERVICES = ("proxy", "search", "postgres", "valkey")


def test_the_compose_file_is_valid() -> None:
    check_compose(compose())
    assert sorted(compose()["services"]) == sorted(SERVICES)


def test_one_server_alone_is_confined_as_one_of_several() -> None:
    document = compose("compose.single.yaml")
    check_compose(document)
    assert list(document["services"]) == ["search"]
    alone, one = document["services"]["search"], search()
    same = "read_only cap_drop security_opt image build shm_size stop_grace_period restart".split()
    assert {name: alone[name] for name in same} == {name: one[name] for name in same}
    assert alone["deploy"]["resources"] == one["deploy"]["resources"] and alone["tmpfs"] == one["tmpfs"][:1]
    assert alone["environment"].items() <= one["environment"].items()
    assert alone["ports"] == compose()["services"]["proxy"]["ports"]
    assert alone["volumes"] == ["data:/data"] and document["volumes"] == {"data": {}}
    assert document["secrets"].items() <= compose()["secrets"].items()


@pytest.mark.parametrize(
    ("service", "field", "value"),
    [("search", "tmpfss", ["/tmp"]), ("search", "read_only", ["yes"]), ("valkey", "healthcheck", {"tests": []})],
)
def test_a_wrong_field_is_found(service: str, field: str, value: object) -> None:
    document = copy.deepcopy(compose())
    document["services"][service][field] = value
    with pytest.raises(jsonschema.ValidationError):
        check_compose(document)


@pytest.mark.parametrize("service", SERVICES)
def test_every_service_has_resource_limits(service: str) -> None:
    held = compose()["services"][service]
    assert held["read_only"] is True
    assert held["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in held["security_opt"]
    assert set(held["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}
    assert held.get("healthcheck") or service == "search"  # the image of `search` has its own
    assert "privileged" not in held


def test_permanent_memory_of_a_service_leaves_memory_for_its_work() -> None:
    said = {name: " ".join(compose()["services"][name]["command"]) for name in ("postgres", "valkey")}
    for name, pattern, share in (
        ("postgres", r"-c shared_buffers=(\d+)MB", 0.4),
        ("valkey", r"--maxmemory (\d+)mb", 0.7),
    ):
        taken = re.search(pattern, said[name])
        bound = str(compose()["services"][name]["deploy"]["resources"]["limits"]["memory"])
        assert taken is not None
        assert int(taken[1]) << 20 <= share * int(bound[:-1]) * {"m": 1 << 20, "g": 1 << 30}[bound[-1]]


def test_all_settings_exist() -> None:
    environment = {name: str(value) for name, value in search()["environment"].items()}
    assert unknown_variables(environment) == ()
    known = {setting.variable for setting in setting_table()}
    assert {name.removesuffix("_FILE") for name in environment} <= known


def search() -> dict[str, Any]:
    """Return the service of search-mcp."""
    found: dict[str, Any] = compose()["services"]["search"]
    return found


def test_the_stop_limit_exceeds_the_drain_time() -> None:
    grace_s = int(search()["stop_grace_period"].removesuffix("s"))
    assert grace_s >= Settings().drain_s + 5


def test_files_and_ports_match_the_image_and_the_proxy() -> None:
    dockerfile = (REPOSITORY / "Dockerfile").read_text()
    port = re.search(r"^EXPOSE (\d+)$", dockerfile, re.M)
    user = re.search(r"useradd --uid (\d+)", dockerfile)
    assert port and user
    proxy = (DEPLOY / "haproxy.cfg").read_text()
    assert set(re.findall(r"server-template replica \S+ (\S+) ", proxy)) == {f"search:{port[1]}"}
    assert any(entry.startswith(f"/data:uid={user[1]},gid={user[1]},") for entry in search()["tmpfs"])
    assert f"bind :{compose()['services']['proxy']['ports'][0].rpartition(':')[2]}" in proxy
    for volume in compose()["services"]["proxy"]["volumes"]:
        assert (DEPLOY / volume.partition(":")[0]).is_file()
    (profile,) = (entry for entry in search()["security_opt"] if entry.startswith("seccomp="))
    assert json.loads((DEPLOY / profile.removeprefix("seccomp=")).read_text())["defaultAction"] == "SCMP_ACT_ERRNO"


def test_every_referenced_name_is_defined() -> None:
    document = compose()
    for service in document["services"].values():
        assert set(service.get("depends_on", ())) <= set(document["services"])
        assert set(service.get("networks", ())) <= set(document["networks"])
        assert set(service.get("secrets", ())) <= set(document["secrets"])
        named = {volume.partition(":")[0] for volume in service.get("volumes", ())}
        assert {name for name in named if not name.startswith(".")} <= set(document["volumes"])


def test_awaited_services_have_health_checks() -> None:
    assert "HEALTHCHECK" in (REPOSITORY / "Dockerfile").read_text()  # of `search`
    services = compose()["services"]
    waited_for = {name for service in services.values() for name in service.get("depends_on", ())}
    assert waited_for == {"search", "postgres", "valkey"}
    assert all("healthcheck" in services[name] for name in waited_for - {"search"})
    port = services["proxy"]["ports"][0].rpartition(":")[2]
    assert services["proxy"]["healthcheck"]["test"][-1] == f"http://127.0.0.1:{port}/health"


def test_the_network_of_the_shared_services_is_internal() -> None:
    document = compose()
    assert document["networks"]["state"]["internal"] is True
    for service in ("postgres", "valkey"):
        assert document["services"][service]["networks"] == ["state"]
        assert "ports" not in document["services"][service]


def test_required_secrets_are_created_and_valid(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    command = [str(DEPLOY / "secrets.sh"), str(folder)]
    subprocess.run(command, check=True, timeout=120)
    document = compose()
    files = {secret["file"].rpartition("/")[2] for secret in document["secrets"].values()}
    assert {file.name for file in folder.iterdir()} == files
    used = {name for service in document["services"].values() for name in service.get("secrets", ())}
    assert used == set(document["secrets"])
    environment = {
        name: str(folder / value.rpartition("/")[2])
        for name, value in search()["environment"].items()
        if name.endswith("_FILE")
    }
    settings = Settings.load(environment)
    assert settings.token == (folder / "token").read_text() and len(settings.token) == 48
    assert settings.shared_url and settings.shared_url.endswith("@valkey:6379/0")
    assert settings.database_url and settings.database_url.endswith("@postgres:5432/search")
    password = (folder / "postgres-password").read_text()
    assert f":{password}@" in settings.database_url
    assert (folder / "valkey.conf").read_text().split()[1] in settings.shared_url
    assert folder.stat().st_mode & 0o077 == 0
    assert subprocess.run(command, capture_output=True, timeout=120).returncode == 1
    assert (folder / "postgres-password").read_text() == password

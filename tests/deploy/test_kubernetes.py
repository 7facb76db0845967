"""The manifests are valid for Kubernetes and match the server."""

from __future__ import annotations

import copy
import tomllib
from ipaddress import ip_network
from typing import Any

import kubernetes_validate
import pytest
import yaml

from browsers.egress.ip_rules import PUBLIC_IPV6, SPECIAL_IPV4, SPECIAL_IPV6
from scraper.server.application import Health
from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.lifecycle import hold_services
from scraper.server.telemetry.metrics import Metrics
from scraper.settings import Settings, setting_table, unknown_variables
from tests.deploy.files import DEPLOY, check_manifest, compose, kustomization, manifest, manifests
from tests.scraper.process import REPOSITORY
from tests.scraper.server.stand_in import App

KINDS = {
    "Deployment", "HorizontalPodAutoscaler", "Namespace", "NetworkPolicy", "PodDisruptionBudget", "Service",
}  # fmt: skip


def test_every_object_matches_the_schema_of_its_kind() -> None:
    for document in manifests():
        check_manifest(document)
    assert {document["kind"] for document in manifests()} == KINDS


def test_the_kustomization_names_every_file_and_the_image_of_this_version() -> None:
    files = {file.name for file in (DEPLOY / "kubernetes").glob("*.yaml")}
    assert {*kustomization()["resources"], "kustomization.yaml"} == files
    (image,) = kustomization()["images"]
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert image["name"] == container()["image"] and image["newTag"] == project["version"]


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("Deployment", ("spec", "template", "spec", "enableServiceLink"), False),
        ("Deployment", ("spec", "template", "spec", "terminationGracePeriodSeconds"), "long"),
        ("HorizontalPodAutoscaler", ("spec", "minReplica"), 2),
        ("NetworkPolicy", ("spec", "egres"), []),
        ("PodDisruptionBudget", ("spec", "maxUnavailables"), 1),
        ("Service", ("spec", "ports"), {"port": 8000}),
    ],
)
def test_a_wrong_field_is_found(kind: str, path: tuple[str, ...], value: object) -> None:
    document = copy.deepcopy(manifest(kind))
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    with pytest.raises(kubernetes_validate.ValidationError):
        check_manifest(document)


def test_objects_share_a_namespace_and_refer_to_each_other() -> None:
    (namespace,) = (one for one in manifests() if one["kind"] == "Namespace")
    name = manifest("Deployment")["metadata"]["name"]
    labels = manifest("Deployment")["spec"]["template"]["metadata"]["labels"]
    for one in manifests():
        assert one["kind"] == "Namespace" or one["metadata"]["namespace"] == namespace["metadata"]["name"]
    assert manifest("HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]["name"] == name
    assert manifest("Service")["spec"]["selector"] == labels
    assert manifest("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == labels
    assert manifest("NetworkPolicy")["spec"]["podSelector"]["matchLabels"] == labels


def pod() -> dict[str, Any]:
    """Return the pod specification."""
    found: dict[str, Any] = manifest("Deployment")["spec"]["template"]["spec"]
    return found


def container() -> dict[str, Any]:
    """Return the container of the server."""
    (found,) = pod()["containers"]
    return dict(found)


def test_all_settings_exist() -> None:
    names = [entry["name"] for entry in container()["env"]]
    assert unknown_variables(dict.fromkeys(names, "")) == ()
    assert {name.removesuffix("_FILE") for name in names} <= {one.variable for one in setting_table()}
    told = {entry["name"]: entry["value"] for entry in container()["env"]}
    (mount,) = (one for one in container()["volumeMounts"] if one["name"] == "secrets")
    files = {value for name, value in told.items() if name.endswith("_FILE")}
    secrets = compose()["secrets"]
    assert all(value.rpartition("/")[0] == mount["mountPath"] for value in files)
    assert {value.rpartition("/")[2] for value in files} <= set(secrets)


def test_the_service_variable_does_not_override_a_setting() -> None:
    variable = manifest("Service")["metadata"]["name"].upper().replace("-", "_") + "_PORT"
    assert variable in {setting.variable for setting in setting_table()}
    assert pod()["enableServiceLinks"] is False


def test_a_disruption_leaves_available_servers() -> None:
    at_once = manifest("PodDisruptionBudget")["spec"]["maxUnavailable"]
    assert isinstance(at_once, int) and at_once < manifest("HorizontalPodAutoscaler")["spec"]["minReplicas"]


def test_the_grace_period_covers_the_drain_time() -> None:
    wait_s = container()["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pod()["terminationGracePeriodSeconds"] >= wait_s + Settings().drain_s + 5


async def test_the_probes_request_existing_paths() -> None:
    async with hold_services(App.open) as holder:
        calls = CallDispatcher((), holder, deadline_s=1)
        routes = {route.path for route in Health(holder, calls, queue_limit=1, version="1").routes()}
        answer = await Metrics(holder, calls, ()).route().endpoint(None)
    probes = [container()[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")]
    assert [probe["path"] for probe in probes] == ["/health", "/health", "/ready"]
    assert routes == {"/health", "/ready"}
    for probe in probes:
        # The server does not accept the address of a pod as a host name.
        assert probe["httpHeaders"] == [{"name": "Host", "value": "localhost"}]
    (metric,) = manifest("HorizontalPodAutoscaler")["spec"]["metrics"]
    assert f"# TYPE {metric['pods']['metric']['name']} gauge" in answer.body.decode()


def test_ports_match_the_server() -> None:
    port = Settings().port
    assert [one["containerPort"] for one in container()["ports"]] == [port]
    assert [one["port"] for one in manifest("Service")["spec"]["ports"]] == [port]
    assert [one["port"] for rule in rules("ingress") for one in rule["ports"]] == [port]


def test_every_name_in_a_pod_is_defined() -> None:
    names = {port["name"] for port in container()["ports"]}
    probes = [container()[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")]
    assert {probe["port"] for probe in probes} <= names
    assert {port["targetPort"] for port in manifest("Service")["spec"]["ports"]} <= names
    mounts = [mount["name"] for mount in container()["volumeMounts"]]
    assert sorted(mounts) == sorted(volume["name"] for volume in pod()["volumes"])


def test_the_secret_and_the_metrics_are_at_the_documented_places() -> None:
    (secret,) = (volume["secret"]["secretName"] for volume in pod()["volumes"] if "secret" in volume)
    said = (DEPLOY / "kubernetes" / "deployment.yaml").read_text()
    assert f"create secret generic {secret} " in said
    for variable in (entry for entry in container()["env"] if entry["name"].endswith("_FILE")):
        assert f"--from-file={variable['value'].rpartition('/')[2]}=" in said
    notes = manifest("Deployment")["spec"]["template"]["metadata"]["annotations"]
    assert notes["prometheus.io/port"] == str(Settings().port)
    assert notes["prometheus.io/path"] == "/metrics"


def rules(direction: str) -> list[dict[str, Any]]:
    """Return the rules of the network policy."""
    found: list[dict[str, Any]] = manifest("NetworkPolicy")["spec"][direction]
    return found


def test_blocked_networks_match_the_egress_proxy() -> None:
    blocks = [peer["ipBlock"] for rule in rules("egress") for peer in rule["to"] if "ipBlock" in peer]
    found = {block["cidr"]: [ip_network(one) for one in block["except"]] for block in blocks}
    assert set(found) == {"0.0.0.0/0", str(PUBLIC_IPV6)}
    assert sorted(found["0.0.0.0/0"]) == sorted(SPECIAL_IPV4)
    assert sorted(found[str(PUBLIC_IPV6)]) == sorted(SPECIAL_IPV6)


def test_egress_is_limited_to_the_web_dns_and_shared_services() -> None:
    assert set(manifest("NetworkPolicy")["spec"]["policyTypes"]) == {"Ingress", "Egress"}
    ports = [
        {(port["protocol"], port.get("port")) for port in rule["ports"]}
        for rule in rules("egress")
        if not any("ipBlock" in peer for peer in rule["to"])
    ]
    assert ports == [{("UDP", 53), ("TCP", 53)}, {("TCP", 5432)}, {("TCP", 6379)}]


def test_a_pod_has_no_privileges_but_can_use_the_browser_sandbox() -> None:
    assert manifest("Namespace")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert container()["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    profile = pod()["securityContext"]["seccompProfile"]
    assert (profile["type"], (DEPLOY / profile["localhostProfile"]).is_file()) == ("Localhost", True)
    mounted = {one["mountPath"] for one in container()["volumeMounts"]}
    assert {"/tmp", "/data", "/dev/shm"} <= mounted


def test_every_manifest_is_one_document_or_several() -> None:
    for file in (DEPLOY / "kubernetes").iterdir():
        assert file.suffix == ".yaml"
        assert list(yaml.safe_load_all(file.read_text()))

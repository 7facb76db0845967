"""Helpers that read the files in deploy/ and validate them with the schemas of their programs."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

import jsonschema
import kubernetes_validate
import yaml

from tests.scraper.process import REPOSITORY

DEPLOY = REPOSITORY / "deploy"
_KUBERNETES = "1.33"
"""The oldest supported version has all features that the manifests use."""


def compose(name: str = "compose.yaml") -> dict[str, Any]:
    """Return a compose file; by default that of several servers."""
    found: dict[str, Any] = yaml.safe_load((DEPLOY / name).read_text())
    return found


def manifests() -> list[dict[str, Any]]:
    """Return all Kubernetes objects."""
    folder = DEPLOY / "kubernetes"
    return [found for name in kustomization()["resources"] for found in yaml.safe_load_all((folder / name).read_text())]


def kustomization() -> dict[str, Any]:
    """Return the file that lists the manifests."""
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())
    return found


def manifest(kind: str) -> dict[str, Any]:
    """Return the only object of a kind."""
    (found,) = (one for one in manifests() if one["kind"] == kind)
    return found


def check_compose(document: dict[str, Any]) -> None:
    """Validate a compose file; raise jsonschema.ValidationError if it breaks the schema."""
    error = jsonschema.exceptions.best_match(_compose_validator().iter_errors(document))
    if error is not None:
        raise error


@cache
def _compose_validator() -> Any:
    vendor = resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
    schema = json.loads((vendor / "compose-spec.json").read_text())
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


def check_manifest(document: dict[str, Any]) -> None:
    """Validate a manifest strictly; raise kubernetes_validate.ValidationError if it breaks its schema."""
    kubernetes_validate.validate(document, _KUBERNETES, strict=True)

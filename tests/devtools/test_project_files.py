"""Files that hosts of repositories, and tools of contributors, read."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import check_jsonschema
import pytest
import yaml
from click.testing import CliRunner
from pre_commit.clientlib import load_config

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted(GITHUB.glob("workflows/*.yml"))
FORMS = sorted(set(GITHUB.glob("ISSUE_TEMPLATE/*.yml")) - {GITHUB / "ISSUE_TEMPLATE/config.yml"})
BY_SCHEMA = {
    "vendor.github-workflows": WORKFLOWS,
    "custom.github-workflows-require-timeout": WORKFLOWS,
    "vendor.github-issue-forms": FORMS,
    "vendor.github-issue-config": [GITHUB / "ISSUE_TEMPLATE/config.yml"],
    "vendor.dependabot": [GITHUB / "dependabot.yml"],
}
ACTIONLINT = shutil.which("actionlint")


@pytest.mark.parametrize("schema", BY_SCHEMA)
def test_each_file_matches_its_schema(schema: str) -> None:
    files = BY_SCHEMA[schema]
    done = CliRunner().invoke(check_jsonschema.main, ["--builtin-schema", schema, *map(str, files)])
    assert files and done.exit_code == 0, done.output


@pytest.mark.skipif(ACTIONLINT is None, reason="actionlint is not on the path")
def test_the_workflows_have_no_findings() -> None:
    done = subprocess.run([str(ACTIONLINT)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_actions_of_others_are_pinned_by_commit(file: Path) -> None:
    used = re.findall(r"uses: (.+)", file.read_text("utf-8"))
    pinned = re.compile(r"\./\S+|[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert used and not [action for action in used if not pinned.fullmatch(action)]


def test_make_targets_of_the_workflows_exist() -> None:
    text = "".join(file.read_text("utf-8") for file in WORKFLOWS)
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("$(VENV)", ".venv")
    targets = set(re.findall(r"^([\w./-]+):", makefile, re.MULTILINE))
    used = set(re.findall(r"\bmake ([\w./-]+)", text))
    assert used and used <= targets


def test_hooks_run_the_tools_of_the_environment() -> None:
    config = load_config(str(ROOT / ".pre-commit-config.yaml"))
    (local,) = (repo for repo in config["repos"] if repo["repo"] == "local")
    programs = {hook["entry"].split()[0] for hook in local["hooks"]}
    assert programs == {".venv/bin/ruff", ".venv/bin/mypy", ".venv/bin/lint-imports"}
    assert not [program for program in programs if not (ROOT / program).exists()]


def test_the_locks_agree_on_every_version() -> None:
    versions: defaultdict[str, set[str]] = defaultdict(set)
    for lock in (ROOT / "requirements").glob("*.txt"):
        found: defaultdict[str, set[str]] = defaultdict(set)
        for name, version in re.findall(r"^([\w.-]+)==(\S+)", lock.read_text("utf-8"), re.MULTILINE):
            found[name].add(version)
        for name, several in found.items():
            versions[name].add(" or ".join(sorted(several)))
    assert len(versions) > 100
    assert not {name: several for name, several in versions.items() if len(several) > 1}


def test_the_release_reads_fields_that_exist() -> None:
    registry_entry = yaml.safe_load((ROOT / "server.json").read_text("utf-8"))
    assert registry_entry["version"] == registry_entry["packages"][0]["version"]
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"mcp-name: {registry_entry['name']} " in readme


def test_source_files_that_the_docs_name_exist() -> None:
    sources = {f"/{file.relative_to(ROOT)}" for file in ROOT.glob("*/**/*.py") if ".venv" not in file.parts}
    named = {
        (file.name, name)
        for file in ROOT.glob("docs/**/*.md")
        for name in re.findall(r"`([\w./]+\.py)`", file.read_text("utf-8"))
    }
    assert named and not [one for one in named if not any(path.endswith(f"/{one[1]}") for path in sources)]


def test_each_threat_has_a_guard_and_a_test_that_exists() -> None:
    table = (ROOT / "SECURITY.md").read_text("utf-8").split("| threat | guard | test |\n|---|---|---|\n")[1]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert len(rows) > 10
    for threat, guard, tests in rows:
        named = re.findall(r"`((?:tests|\.github)/[^`]+)`", tests)
        assert threat and guard and named, threat
        assert not [name for name in named if not (ROOT / name).exists()], threat

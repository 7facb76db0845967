"""The documentation is correct about this repository: links have targets, and named files exist."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import grimp
import pytest

from scraper.cli.client_config import CLIENTS, SERVER_NAME, ServerCommand
from scraper.cli.main import group
from scraper.errors import ScraperError
from scraper.settings import Settings, setting_table
from scraper.settings.table import COMMAND_VARIABLES
from scraper.tools import registry

ROOT = Path(__file__).parents[2]
PATTERNS = "*.md docs/**/*.md benchmarks/*.md changes/*.md deploy/**/*.md examples/*.md .github/*.md".split()
PAGES = sorted(page for pattern in PATTERNS for page in ROOT.glob(pattern))
OPERATED = [ROOT / "Dockerfile", *(path for path in ROOT.glob("deploy/**/*") if path.is_file())]
"""Files that set environment variables of the product."""

MOST_LINES = 72
"""Lines of the first page: one screenful, with a configuration to paste."""
_OURS = re.compile(
    r"https://(?:github\.com/search-mcp/search-mcp/blob|raw\.githubusercontent\.com/search-mcp/search-mcp)/main/"
)

_LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
_BLOCK = re.compile(r"^ *(?P<fence>`{3,}).*?^ *(?P=fence)$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.(?:py|js|sh|conf|cfg))`")
_ELSEWHERE = {"node.js", "pg_hba.conf"}
"""Names that look like a file of this repository but are not."""


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def _subclasses(kind: type[ScraperError]) -> set[type[ScraperError]]:
    return {kind}.union(*map(_subclasses, kind.__subclasses__()))


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(text: str) -> list[str]:
    """Return the code blocks of a page with their fences."""
    return [found.group() for found in _BLOCK.finditer(text)]


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as repository hosts build them."""
    prose = _BLOCK.sub("", text_of(page))
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in _HEADING.findall(prose))
    return {heading.replace(" ", "-") for heading in kept}


def test_the_readme_is_short() -> None:
    assert len(text_of(ROOT / "README.md").splitlines()) <= MOST_LINES


def test_the_readme_names_every_tool() -> None:
    text = text_of(ROOT / "README.md")
    assert not [tool.name for tool in registry.tools() if f"`{tool.name}`" not in text]


def test_the_readme_has_only_links_that_work_elsewhere() -> None:
    links = _LINK.findall(_BLOCK.sub("", text_of(ROOT / "README.md")))
    assert len(links) > 10 and [link for link in links if not re.match(r"[a-z]+:", link)] == []


def test_the_readme_installs_and_configures_as_the_command_does() -> None:
    text, server = text_of(ROOT / "README.md"), ServerCommand("search-mcp")
    assert all(f"]({CLIENTS[name].link(server)})" in text for name in ("cursor", "vscode"))
    (block,) = (one for one in blocks(text) if one.startswith("```json"))
    (name,) = CLIENTS["claude-desktop"].keys
    assert json.loads("".join(block.splitlines()[1:-1])) == {
        name: {SERVER_NAME: CLIENTS["claude-desktop"].entry(server)}
    }


def test_every_internal_link_has_a_target() -> None:
    wrong = []
    for page in PAGES:
        for link in _LINK.findall(_BLOCK.sub("", text_of(page))):
            path, _, anchor = _OURS.sub("/", link).partition("#")
            if re.match(r"[a-z]+:", path):
                continue
            target = page.parent / path if path and path[0] != "/" else ROOT / path[1:] if path else page
            if not target.exists() or (anchor and anchor not in anchors(target)):
                wrong.append((named(page), link))
    assert wrong == []


def test_every_variable_that_is_named_exists() -> None:
    known = {*COMMAND_VARIABLES, *(setting.variable for setting in setting_table())}
    known |= {setting.file_variable for setting in setting_table() if setting.secret}
    pages = {named(page): re.findall(r"\bSEARCH_MCP_[A-Z_]*[A-Z]\b", text_of(page)) for page in [*PAGES, *OPERATED]}
    assert [(page, name) for page, names in pages.items() for name in names if name not in known] == []


def test_every_command_that_is_shown_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", text_of(ROOT / "Makefile"), re.MULTILINE))
    wrong = []
    for page in PAGES:
        text = text_of(page)
        shown = "\n".join([*blocks(text), *re.findall(r"`[^`\n]+`", _BLOCK.sub("", text))])
        names = set(re.findall(r"(?<![\w.:\[])search-mcp ([a-z][a-z-]+)", shown)) - set(group.commands)
        names |= set(re.findall(r"\bmake ([a-z][a-z-]*)", shown)) - targets
        for module in re.findall(r"\b(?:benchmarks|devtools)(?:\.[a-z_]+)+", shown):
            place = ROOT / module.replace(".", "/")
            if not place.with_suffix(".py").is_file() and not place.is_dir():
                names.add(module)
        wrong += [(named(page), name) for name in sorted(names)]
    assert wrong == []


def test_every_option_of_a_command_that_is_shown_exists() -> None:
    assert [(named(page), option) for page in PAGES for option in unknown_options(text_of(page))] == []


def unknown_options(text: str) -> Iterator[str]:
    """Yield the options in a page that their command lacks, each with its line."""
    lines = [*"\n".join(blocks(text)).splitlines(), *re.findall(r"`([^`\n]+)`", _BLOCK.sub("", text))]
    for line in lines:
        for words in re.findall(r"(?<![\w.:\[])search-mcp ([a-z][a-z-]+[^|;&#]*)", line):
            command = group.commands[words.split()[0]]
            if isinstance(command, click.Group) and len(words.split()) > 1:
                command = command.commands.get(words.split()[1], command)
            if command.context_settings.get("ignore_unknown_options"):
                continue  # passes its arguments on
            known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
            found = set(re.findall(r"(?<!\S)--[a-z-]+", words))
            yield from (f"{option} in {line}" for option in sorted(found - known - {"--help"}))


def test_every_command_line_that_is_shown_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "state.json").touch()
    refused, count = [], 0
    for page in PAGES:
        for line in "\n".join(blocks(text_of(page))).replace("\\\n", " ").splitlines():
            for name, *arguments in _command_lines(line):
                count += 1
                try:
                    group.commands[name].make_context(
                        name, arguments, parent=click.Context(group, **group.context_settings)
                    )
                except click.exceptions.Exit:
                    pass  # the help
                except (click.ClickException, KeyError) as error:
                    refused.append((named(page), line, str(error)))
    assert count > 60 and refused == []


def _command_lines(line: str) -> Iterator[list[str]]:
    """Yield the words after `search-mcp` of each command in a line of a shell."""
    if not re.search(r"(?<![\w./:\[-])search-mcp [a-z]", line) or line.startswith(("claude ", "docker ", "pip")):
        return
    words = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars=True)
    words.whitespace_split = True
    found: list[str] | None = None
    for word in [*words, ";"]:
        if set(word) <= set("|;&<>()"):
            if found:
                yield found
            found = None
        elif word == "search-mcp" and found is None:
            found = []
        elif found is not None:
            found.append(word)


def test_every_call_of_the_recipes_is_valid() -> None:
    tools = {tool.name: tool for tool in registry.all_tools(Settings())}
    calls = re.findall(r"`(\w+) (\{.*?\})`", text_of(ROOT / "docs/recipes.md"))
    assert len(calls) >= 18
    for name, arguments in calls:
        assert tools[name].fault(json.loads(arguments)) is None, (name, arguments)


def test_every_error_code_is_explained() -> None:
    codes = {kind.code for kind in _subclasses(ScraperError)} | {"timeout", "out_of_memory", "crash"}
    rows = [row for row in text_of(ROOT / "docs/errors.md").splitlines() if row.startswith("| `")]
    assert sorted(code for row in rows for code in re.findall(r"`(\w+)`", row.split("|")[1])) == sorted(
        codes | {"error_code"}
    )


def test_no_page_names_a_pip_that_an_environment_of_uv_lacks() -> None:
    assert [named(page) for page in PAGES if "bin/pip " in text_of(page)] == []


def test_every_file_that_is_named_exists() -> None:
    trees = ("benchmarks", "browsers", "deploy", "devtools", "examples", "scraper", "tests")
    ours = [f"/{path.relative_to(ROOT).as_posix()}" for tree in trees for path in (ROOT / tree).rglob("*.*")]
    ends = {path[start:] for path in ours for start, sign in enumerate(path) if sign == "/"}
    pages = {named(page): set(_FILE.findall(text_of(page))) - _ELSEWHERE for page in PAGES}
    assert [(page, name) for page, names in pages.items() for name in names if f"/{name}" not in ends] == []


def test_the_documented_packages_are_those_of_the_import_contracts() -> None:
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))
    rules = project["tool"]["importlinter"]["contracts"]
    (packages,) = (rule for rule in rules if rule["type"] == "layers" and rule["containers"] == ["scraper"])
    shown = [block.splitlines()[1:-1] for block in blocks(text_of(ROOT / "docs/architecture.md"))]
    assert packages["layers"] in shown


def test_each_arrow_between_documented_packages_is_an_import() -> None:
    picture = blocks(text_of(ROOT / "docs/architecture.md"))[0]
    arrows = re.findall(r"^ +(\w+)(?:\[.*?\])? --> (\w+)", picture, re.MULTILINE)
    graph = grimp.build_graph("browsers", "scraper", cache_dir=None)
    shared = {"model": ("model", "urls", "errors", "settings")}  # One box.

    def modules(box: str) -> set[str]:
        names = ["browsers"] if box == "browsers" else [f"scraper.{name}" for name in shared.get(box, (box,))]
        return {module for name in names for module in graph.find_descendants(name) | {name}}

    boxes = {box for arrow in arrows for box in arrow}
    assert boxes == set(re.findall(r"(\w+)\[", picture)) and len(arrows) > 20
    for importer, imported in arrows:
        direct = {one for module in modules(importer) for one in graph.find_modules_directly_imported_by(module)}
        assert direct & modules(imported), (importer, imported)


def test_every_guard_names_tests_that_exist() -> None:
    rows = [line for line in (ROOT / "SECURITY.md").read_text("utf-8").splitlines() if line.startswith("| ")][1:]
    for row in rows:
        named = re.findall(r"`((?:tests|\.github)/[\w/.-]+|python -m [\w.]+|make \w+)`", row.rsplit("|", 2)[1])
        assert named, row
        assert not [one for one in named if "/" in one and not (ROOT / one).exists()], row

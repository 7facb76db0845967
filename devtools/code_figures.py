"""Print figures about the readability of the product's code.

python -m devtools.code_figures [--json FILE]

Counted over the Python files of browsers and scraper:

- lines and files
- docstrings whose first line is not in the imperative mood (ruff D401, google convention)
- exceptions whose name does not end in Error (ruff N818)
- public class names that are defined in more than one module
- modules that exactly one other module imports: all, and those of at most 100 lines
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import grimp

__all__ = ["figures", "repeated_class_names", "ruff_count", "single_importer_modules"]

PACKAGES = ("browsers", "scraper")
SMALL_LINES = 100
"""Lines. A module that is at most this long and has one importer is a candidate for a merge."""


def figures(root: Path) -> dict[str, int]:
    """Return the figures of a checkout, which must be the code that Python imports."""
    sources = {file: file.read_text(encoding="utf-8") for file in _files(root)}
    single = single_importer_modules(PACKAGES)
    return {
        "lines": sum(len(source.splitlines()) for source in sources.values()),
        "files": len(sources),
        "d401": ruff_count(root, "D401", PACKAGES),
        "n818": ruff_count(root, "N818", PACKAGES),
        "repeated_class_names": len(repeated_class_names(sources)),
        "single_importer_modules": len(single),
        "single_importer_modules_small": sum(_lines(root, module, sources) <= SMALL_LINES for module in single),
    }


def repeated_class_names(sources: Mapping[Path, str]) -> dict[str, int]:
    """Return the public class names that more than one file defines at its top level, with their number."""
    names = Counter(name for source in sources.values() for name in set(_public_classes(source)))
    return {name: count for name, count in names.items() if count > 1}


def single_importer_modules(packages: Sequence[str]) -> list[str]:
    """Return the modules that exactly one other module imports."""
    graph = grimp.build_graph(*packages, cache_dir=None)
    return sorted(module for module in graph.modules if len(graph.find_modules_that_directly_import(module)) == 1)


def ruff_count(root: Path, rule: str, paths: Sequence[str]) -> int:
    """Return how often the code breaks a rule of ruff, regardless of the project's configuration."""
    options = ("--isolated", "--select", rule, "--config", "lint.pydocstyle.convention='google'")
    command = (sys.executable, "-m", "ruff", "check", *options, "--output-format", "json", "--exit-zero", *paths)
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    return len(json.loads(done.stdout))


def _files(root: Path) -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((root / package).rglob("*.py"))


def _public_classes(source: str) -> Iterator[str]:
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def _lines(root: Path, module: str, sources: Mapping[Path, str]) -> int:
    place = root / module.replace(".", "/")
    file = place.with_suffix(".py")
    return len(sources[file if file in sources else place / "__init__.py"].splitlines())


def main() -> None:
    """Print the figures, and write them if a file is named."""
    parser = argparse.ArgumentParser(
        prog="python -m devtools.code_figures", description="Print the figures of the product's code."
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="file for the figures")
    options = parser.parse_args()
    found = figures(Path(__file__).resolve().parents[1])
    for name, figure in found.items():
        print(f"{name:30} {figure:>7,}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

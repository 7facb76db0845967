"""Print figures about the size and the readability of the product's code.

python -m devtools.code_figures [--json FILE] [--list FIGURE]

Counted over the Python files of browsers and scraper:

- lines and files
- complex_functions: functions whose cyclomatic complexity, as radon counts it, is above 20; and the highest
- regex_calls: calls of functions of the module re
- language_files: files whose texts, without docstrings, contain words of two or more languages other than English
- import_chain: modules in the longest chain in which each module imports the next
- private_uses: private attributes of other objects (`name._attribute`) in the tests
- docstrings whose first line is not in the imperative mood (ruff D401, google convention)
- exceptions whose name does not end in Error (ruff N818)
- public class names that are defined in more than one module
- modules that exactly one other module imports: all, and those of at most 100 lines
- public_names_of_one_file: public names of modules that no other Python file of the repository contains

`--list` prints the places that one of the named figures counts.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

from devtools.complexity import find_complexities
from devtools.language_words import find_languages

__all__ = [
    "COMPLEX",
    "ROOT",
    "Checkout",
    "figures",
    "longest_import_chain",
    "repeated_class_names",
    "ruff_count",
    "single_importer_modules",
]

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("browsers", "scraper")
OTHER_CODE = ("tests", "benchmarks", "devtools", "examples")
COMPLEX = 20
"""Cyclomatic complexity above which a function is complex. The median of the product's functions is 2."""

SMALL_LINES = 100
"""Lines. A module that is at most this long and has one importer is a candidate for a merge."""

SIZES_WITH_PLACES = ("complex_functions", "regex_calls", "language_files", "import_chain", "private_uses")
"""Figures that `devtools.size_gate` limits, and of which each unit has a place."""

_IDENTIFIER = re.compile(r"[^\W\d]\w*")


class Checkout:
    """The Python files of a checkout, with the places that its figures count."""

    def __init__(self, root: Path) -> None:
        """Read files below `root` when a figure needs them."""
        self._root = root

    @cached_property
    def sources(self) -> dict[Path, str]:
        """Return the texts of the product's files."""
        return _read(self._root, PACKAGES)

    @cached_property
    def _trees(self) -> dict[Path, ast.Module]:
        return {file: ast.parse(source) for file, source in self.sources.items()}

    @cached_property
    def _complexities(self) -> list[tuple[int, str]]:
        """Complexity of each function with its place, the highest first."""
        found = (
            (complexity, f"{self._place(file, function)} {function.name}")
            for file, tree in self._trees.items()
            for function, complexity in find_complexities(tree)
        )
        return sorted(found, reverse=True)

    @property
    def complex_functions(self) -> list[str]:
        """Return the functions that are too complex, the most complex first."""
        return [f"{place} {complexity}" for complexity, place in self._complexities if complexity > COMPLEX]

    @property
    def regex_calls(self) -> list[str]:
        """Return the calls of functions of the module re."""
        return [
            self._place(file, node)
            for file, node in _walk(self._trees)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_name(node.func.value, "re")
        ]

    @property
    def language_files(self) -> list[str]:
        """Return the files with words of several languages other than English, and the languages."""
        found = {file: find_languages(_texts(tree)) for file, tree in self._trees.items()}
        return [
            f"{file.relative_to(self._root)} {', '.join(sorted(languages))}"
            for file, languages in found.items()
            if len(languages) > 1
        ]

    @property
    def private_uses(self) -> list[str]:
        """Return the uses of private attributes of other objects in tests."""
        sources = _read(self._root, ("tests",))
        trees = {file: ast.parse(source) for file, source in sources.items() if "._" in source}
        return [
            f"{self._place(file, node)} {ast.unparse(node)}"
            for file, node in _walk(trees)
            if isinstance(node, ast.Attribute) and _is_private(node.attr) and _is_other_name(node.value)
        ]

    @property
    def import_chain(self) -> list[str]:
        """Return the modules of the longest chain of imports."""
        return longest_import_chain(PACKAGES)

    @property
    def public_names_of_one_file(self) -> list[str]:
        """Return the public names of modules that no other Python file contains, not even in a text."""
        sources = self.sources | _read(self._root, OTHER_CODE)
        files = Counter(name for source in sources.values() for name in set(_IDENTIFIER.findall(source)))
        return [
            f"{self._place(file, node)} {name}"
            for file, tree in self._trees.items()
            for node in tree.body
            for name in _defined_names(node)
            if files[name] == 1 and not name.startswith("_")
        ]

    def size_figures(self) -> dict[str, int]:
        """Return the figures that `devtools.size_gate` limits."""
        return {
            "lines": sum(len(source.splitlines()) for source in self.sources.values()),
            "files": len(self.sources),
            "highest_complexity": self._complexities[0][0],
            **{name: len(self.places(name)) for name in SIZES_WITH_PLACES},
        }

    def places(self, figure: str) -> list[str]:
        """Return the places that a figure counts."""
        found: list[str] = getattr(self, figure)
        return found

    def _place(self, file: Path, node: ast.stmt | ast.expr) -> str:
        return f"{file.relative_to(self._root)}:{node.lineno}"


def figures(root: Path) -> dict[str, int]:
    """Return the figures of a checkout, which must be the code that Python imports."""
    checkout = Checkout(root)
    single = single_importer_modules(PACKAGES)
    return {
        **checkout.size_figures(),
        "d401": ruff_count(root, "D401", PACKAGES),
        "n818": ruff_count(root, "N818", PACKAGES),
        "repeated_class_names": len(repeated_class_names(checkout.sources)),
        "single_importer_modules": len(single),
        "single_importer_modules_small": sum(
            _lines(root, module, checkout.sources) <= SMALL_LINES for module in single
        ),
        "public_names_of_one_file": len(checkout.public_names_of_one_file),
    }


def repeated_class_names(sources: Mapping[Path, str]) -> dict[str, int]:
    """Return the public class names that more than one file defines at its top level, with their number."""
    names = Counter(name for source in sources.values() for name in set(_public_classes(source)))
    return {name: count for name, count in names.items() if count > 1}


def single_importer_modules(packages: Sequence[str]) -> list[str]:
    """Return the modules that exactly one other module imports."""
    graph = grimp.build_graph(*packages, cache_dir=None)
    return sorted(module for module in graph.modules if len(graph.find_modules_that_directly_import(module)) == 1)


def longest_import_chain(packages: Sequence[str]) -> list[str]:
    """Return the longest chain of modules of which each imports the next.

    Raises:
        graphlib.CycleError: Modules import each other in a circle.
    """
    graph = grimp.build_graph(*packages, cache_dir=None)
    imports = {module: sorted(graph.find_modules_directly_imported_by(module)) for module in sorted(graph.modules)}
    chains: dict[str, list[str]] = {}
    for module in TopologicalSorter(imports).static_order():
        chains[module] = [module, *max((chains[imported] for imported in imports[module]), key=len, default=[])]
    return max(chains.values(), key=len, default=[])


def ruff_count(root: Path, rule: str, paths: Sequence[str]) -> int:
    """Return how often the code breaks a rule of ruff, regardless of the project's configuration."""
    options = ("--isolated", "--select", rule, "--config", "lint.pydocstyle.convention='google'")
    command = (sys.executable, "-m", "ruff", "check", *options, "--output-format", "json", "--exit-zero", *paths)
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    return len(json.loads(done.stdout))


def _read(root: Path, folders: Iterable[str]) -> dict[Path, str]:
    files = (file for folder in folders for file in sorted((root / folder).rglob("*.py")))
    return {file: file.read_text(encoding="utf-8") for file in files}


def _walk(trees: Mapping[Path, ast.Module]) -> Iterator[tuple[Path, ast.AST]]:
    for file, tree in trees.items():
        for node in ast.walk(tree):
            yield file, node


def _texts(tree: ast.Module) -> Iterator[str]:
    """Yield the string constants that are not statements, as docstrings are."""
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements:
            yield node.value


def _is_name(node: ast.expr, *names: str) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _is_other_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and not _is_name(node, "self", "cls")


def _defined_names(node: ast.stmt) -> list[str]:
    """Return the names that a statement of a module defines: a function, a class or constants."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    names = (name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))
    return [name.id for name in names if isinstance(name.ctx, ast.Store)]


def _public_classes(source: str) -> Iterator[str]:
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def _lines(root: Path, module: str, sources: Mapping[Path, str]) -> int:
    place = root / module.replace(".", "/")
    file = place.with_suffix(".py")
    return len(sources[file if file in sources else place / "__init__.py"].splitlines())


def main() -> None:
    """Print the figures, and write them if a file is named; or print the places of one figure."""
    parser = argparse.ArgumentParser(
        prog="python -m devtools.code_figures", description="Print the figures of the product's code."
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="file for the figures")
    listed = (*SIZES_WITH_PLACES, "public_names_of_one_file")
    parser.add_argument("--list", choices=listed, metavar="FIGURE", help=f"print its places: {', '.join(listed)}")
    options = parser.parse_args()
    if options.list:
        print(*Checkout(ROOT).places(options.list), sep="\n")
        return
    found = figures(ROOT)
    for name, figure in found.items():
        print(f"{name:30} {figure:>7,}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

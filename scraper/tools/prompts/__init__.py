"""Prompts: tasks that combine several tools, each as one message for the model."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scraper.errors import InvalidArgumentError
from scraper.tools.model import Tool
from scraper.values.text import read_file, read_table

__all__ = ["Prompt", "PromptArgument", "prompts_for"]

MAX_CHARS = 4_000
"""Characters of one argument: enough for a sentence or a list of links, not for a document."""

_OPTIONAL = re.compile(r"\[\[(\w+):(.*?)\]\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """One argument of a prompt."""

    name: str
    about: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """One task; the file of the same name contains its message."""

    name: str
    title: str
    about: str
    arguments: tuple[PromptArgument, ...]
    needs: Sequence[str]
    """Names of the tools that the task requires."""

    def message(self, arguments: Mapping[str, str]) -> str:
        """Return the message for the model; raise InvalidArgumentError for absent, unknown or long arguments."""
        known = [argument.name for argument in self.arguments]
        for name in arguments:
            if name not in known:
                raise InvalidArgumentError(f'Unknown argument "{name[:60]}". Known: {", ".join(known)}.')
            if len(arguments[name]) > MAX_CHARS:
                raise InvalidArgumentError(f"{name} has more than {MAX_CHARS:,} characters.")
        for argument in self.arguments:
            if argument.required and not arguments.get(argument.name, "").strip():
                raise InvalidArgumentError(f"{argument.name} must be given: {argument.about}")
        values = {name: value.strip() for name, value in arguments.items() if value.strip()}
        text = read_file(__package__, f"{self.name}.md").strip()
        text = _OPTIONAL.sub(lambda part: part[2] if part[1] in values else "", text)
        return text.format_map(values)


_ALL = tuple(
    Prompt(name, row["title"], row["about"], tuple(PromptArgument(**one) for one in row["arguments"]), row["needs"])
    for name, row in read_table(__package__, "prompts.toml").items()
)


def prompts_for(tools: Sequence[Tool]) -> tuple[Prompt, ...]:
    """Return the prompts whose tools are available, in a fixed order."""
    available = {tool.name for tool in tools}
    return tuple(prompt for prompt in _ALL if available.issuperset(prompt.needs))

"""What a person can start with a few words: three tasks that these tools do together, each as one message."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from scraper.errors import InvalidArgumentError
from scraper.tools.model import Tool

__all__ = ["Prompt", "PromptArgument", "prompts_for"]

MAX_CHARS = 4_000
"""Of one argument: a sentence or a list of links, not a document."""

_OPTIONAL = re.compile(r"\[\[(\w+):(.*?)\]\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """What the person is asked for."""

    name: str
    about: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """One task; its message stands in a file of its name."""

    name: str
    title: str
    about: str
    arguments: tuple[PromptArgument, ...]
    needs: frozenset[str]
    """Tools without which it cannot be done."""

    def message(self, given: Mapping[str, str]) -> str:
        """What the model is told.

        Raises:
            BadArgument: a required argument is missing, one is unknown or too long.
        """
        self._check(given)
        values = {name: value.strip() for name, value in given.items() if value.strip()}
        text = resources.files(__name__).joinpath(f"{self.name}.md").read_text(encoding="utf-8").strip()
        kept = _OPTIONAL.sub(lambda part: part[2] if part[1] in values else "", text)
        return re.sub(r"\{(\w+)\}", lambda slot: values[slot[1]], kept)

    def _check(self, given: Mapping[str, str]) -> None:
        known = [argument.name for argument in self.arguments]
        for name in given:
            if name not in known:
                raise InvalidArgumentError(f'Unknown argument "{name[:60]}". Known: {", ".join(known)}.')
            if len(given[name]) > MAX_CHARS:
                raise InvalidArgumentError(f"{name} has more than {MAX_CHARS:,} characters.")
        for argument in self.arguments:
            if argument.required and not given.get(argument.name, "").strip():
                raise InvalidArgumentError(f"{argument.name} must be given: {argument.about}")


_ALL = (
    Prompt(
        "research_question",
        "Research a question",
        "Find, read and weigh sources on a question, then answer it with citations.",
        (
            PromptArgument("question", "What you want to know.", required=True),
            PromptArgument("since", 'How recent sources must be, such as "last month".'),
        ),
        frozenset({"research", "fetch"}),
    ),
    Prompt(
        "compare_products",
        "Compare products",
        "Read up on two to five products and set them side by side by what matters to you.",
        (
            PromptArgument("products", "Their names or links, separated by commas.", required=True),
            PromptArgument("criteria", "What matters, such as price, weight, battery."),
        ),
        frozenset({"search", "compare", "extract_structured"}),
    ),
    Prompt(
        "extract_product_facts",
        "Extract product facts",
        "Read one product page and list what it says: price, availability, brand, ids, properties.",
        (
            PromptArgument("url", "Link of the product page.", required=True),
            PromptArgument("facts", "Which facts, when not all."),
        ),
        frozenset({"extract_structured", "fetch"}),
    ),
)


def prompts_for(tools: Sequence[Tool]) -> tuple[Prompt, ...]:
    """The prompts that can be followed with these tools, in a fixed order."""
    offered = {tool.name for tool in tools}
    return tuple(prompt for prompt in _ALL if prompt.needs <= offered)

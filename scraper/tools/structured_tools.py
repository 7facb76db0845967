"""Tool `extract_structured`: structured data of a page, fields by name, example or recipe, or records of a list."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scraper.errors import InvalidArgumentError, ScraperError
from scraper.facts.fields.model import MAX_FIELDS, FieldRequest, PageFields
from scraper.render import fields as render_fields
from scraper.render import structured as render_structured
from scraper.settings import Settings
from scraper.tools import model
from scraper.urls import parse_target
from scraper.values.types import BooleanValue, ObjectValue, StringListValue

if TYPE_CHECKING:
    from scraper.services import Services


_MAX_PAGES = 10
_MAX_VALUE = 2_000
_MAX_NAMED = 10
_SCHEMA_KEYWORDS = frozenset("$id $schema additionalProperties description required title type".split())
"""Keywords of a JSON Schema that need no warning: their loss changes no value."""
_REQUESTS = ("fields", "example", "records", "recipe")


class _UrlsValue(StringListValue):
    """One URL, or several in a list or separated by spaces."""

    label = "URL"

    def schema(self) -> dict[str, Any]:
        """Return the schema of a string, because some clients reject unions."""
        return {"type": "string"}

    def parse(self, value: object) -> tuple[str, ...]:
        is_list = isinstance(value, list) or (isinstance(value, str) and value.lstrip().startswith("["))
        return tuple(
            dict.fromkeys(super().parse(value if is_list or not isinstance(value, str) else value.split() or value))
        )


class _RecipeValue(ObjectValue):
    """A recipe, or the id of one."""

    def parse(self, value: object) -> dict[str, Any]:
        is_id = isinstance(value, str) and not value.lstrip().startswith("{")
        return {"id": value} if is_id else super().parse(value)


_PARAMETERS = model.Parameters(
    model.Parameter("url", _UrlsValue(_MAX_PAGES), "http(s) URL.", required=True),
    model.FORMAT,
    model.Parameter("urls", StringListValue(_MAX_PAGES - 1), "Further pages like it."),
    model.Parameter("fields", ObjectValue(), "Name: hint."),
    model.Parameter("example", ObjectValue(), "Field: value as the page shows it."),
    model.Parameter("recipe", _RecipeValue(), "Id or object of an earlier answer."),
    model.Parameter("records", BooleanValue(), "Rows of its list or table.", default=False),
)


def extract_structured_tool(settings: Settings) -> model.Tool:
    """Return `extract_structured`."""
    return model.make_tool(
        "extract_structured", "Structured data of a web page", _PARAMETERS, _extract_structured, check=_check
    )


def _check(arguments: Any) -> None:
    urls = _urls(arguments)
    for url in urls:
        parse_target(url)
    if len(urls) > _MAX_PAGES:
        raise InvalidArgumentError(
            f"At most {_MAX_PAGES} URLs are read in one call: make several calls.", target="urls"
        )
    requests = [name for name in _REQUESTS if arguments[name] or arguments[name] == {}]
    if len(requests) > 1 and "recipe" in requests:
        other = next((name for name in requests if name not in ("recipe", "example")), None)
        if other:
            raise InvalidArgumentError(f"recipe and {other} exclude each other: leave one of them out.", target=other)
    if not requests and len(urls) > 1:
        raise InvalidArgumentError(
            "Several URLs need fields, example, recipe or records: make several calls.", target="urls"
        )
    if arguments["fields"] is not None:
        _read_fields(arguments["fields"])
    if arguments["example"] is not None:
        _check_example(arguments["example"])
    if arguments["recipe"] is not None:
        _check_recipe(json.dumps(arguments["recipe"], ensure_ascii=False))


def _check_example(example: Mapping[str, Any]) -> None:
    if not 1 <= len(example) <= MAX_FIELDS:
        raise InvalidArgumentError(f"example must have 1 to {MAX_FIELDS} fields, not {len(example)}.", target="example")
    for name, value in example.items():
        text = str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
        if not 0 < len(text.strip()) <= _MAX_VALUE:
            raise InvalidArgumentError(
                f"example: {name[:40]} must be one text of 1 to {_MAX_VALUE:,} characters, as the page shows it.",
                target="example",
            )


def _check_recipe(recipe: str) -> None:
    # Imported late: the list of tools is built before anything heavy is loaded.
    from scraper.facts.fields import extraction_recipes
    from scraper.reading.fields import id_of

    try:
        if not id_of(recipe):
            extraction_recipes.from_text(recipe)
    except ValueError as error:
        raise InvalidArgumentError(
            f"recipe must be one from an earlier answer: {error}. Give one example again.", target="recipe"
        ) from None


def _urls(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*arguments["url"], *(arguments["urls"] or ()))))


def _read_schema(fields: dict[str, Any]) -> tuple[dict[str, Any], bool, list[str]]:
    """Return the fields, True if they are those of rows (`items.properties`), and ignored keywords of a JSON Schema."""
    schema, is_list = fields, False
    properties = fields.get("properties")
    only = list(properties.values()) if isinstance(properties, dict) and len(properties) == 1 else []
    for one in (*only, fields):
        items = one.get("items") if isinstance(one, dict) and one.get("type") == "array" else None
        if isinstance(items, dict) and isinstance(items.get("properties"), dict):
            schema, is_list = items, True
    properties = schema.get("properties")
    named = properties if isinstance(properties, dict) else schema
    used = set() if named is schema else set(schema) - {"properties"}
    used |= {name for hint in named.values() if isinstance(hint, dict) for name in hint}
    return named, is_list, sorted(used - _SCHEMA_KEYWORDS)


def _read_fields(fields: dict[str, Any]) -> dict[str, str]:
    """Return the hint of each field, cut to 500 characters; for a JSON Schema, the descriptions of its properties."""
    named, _, _ = _read_schema(fields)
    if not 1 <= len(named) <= MAX_FIELDS:
        raise InvalidArgumentError(f"fields must have 1 to {MAX_FIELDS} names, not {len(named)}.", target="fields")
    hints: dict[str, str] = {}
    for name, hint in named.items():
        text = hint.get("description", "") if isinstance(hint, dict) else hint or ""
        if not isinstance(text, str) or not name.strip():
            raise InvalidArgumentError(f'fields: {name[:40]} must have a text as hint, or "".', target="fields")
        hints[name] = text[:500]
    return hints


async def _extract_structured(
    services: "Services", arguments: dict[str, Any], call: model.ToolCall
) -> model.ToolAnswer:
    if any(arguments[name] for name in _REQUESTS):
        return await _extract_fields(services, arguments, call)
    data = await services.structured.extract(arguments["url"][0], **call.options)
    budget = model.body_budget(services.settings, call)
    is_empty = not (data.json_ld or data.microdata or data.opengraph or data.rdfa or data.xhr)
    if arguments["format"] == "json":
        return model.json_answer(render_structured.as_json(data, budget=budget), is_empty=is_empty)
    return model.ToolAnswer(
        render_structured.as_markdown(data, arguments["url"][0], region=model.new_region(), budget=budget),
        is_empty=is_empty,
    )


async def _extract_fields(services: "Services", arguments: dict[str, Any], call: model.ToolCall) -> model.ToolAnswer:
    _, is_list, ignored = _read_schema(arguments["fields"] or {})
    request = FieldRequest(
        records=arguments["records"] or is_list,
        fields=_read_fields(arguments["fields"]) if arguments["fields"] else {},
        example={name: str(value) for name, value in (arguments["example"] or {}).items()},
        recipe=json.dumps(arguments["recipe"], ensure_ascii=False) if arguments["recipe"] else "",
    )
    outcomes = await services.fields.read(_urls(arguments), request, **call.options)
    if ignored:
        note = f"Parts of fields were ignored: {', '.join(name[:40] for name in ignored[:_MAX_NAMED])}."
        outcomes = [
            one if isinstance(one, ScraperError) else replace(one, warnings=(*one.warnings, note)) for one in outcomes
        ]
    rows = tuple(zip(_urls(arguments), outcomes, strict=True))
    return replace(
        _render(rows, model.body_budget(services.settings, call), is_json=arguments["format"] == "json"), fields=rows
    )


def _render(rows: Sequence[tuple[str, PageFields | ScraperError]], budget: int, *, is_json: bool) -> model.ToolAnswer:
    if len(rows) == 1:
        ((url, found),) = rows
        if isinstance(found, ScraperError):
            raise found
        if is_json:
            return model.json_answer(render_fields.as_json(found, budget=budget))
        return model.ToolAnswer(render_fields.as_markdown(found, url, region=model.new_region(), budget=budget))
    failures = tuple(found for _, found in rows if isinstance(found, ScraperError))
    is_empty = len(failures) == len(rows)
    if is_json:
        return model.json_answer(render_fields.pages_as_json(rows, budget=budget), failures=failures, is_empty=is_empty)
    text = render_fields.pages_as_markdown(rows, region=model.new_region(), budget=budget)
    return model.ToolAnswer(text, failures=failures, is_empty=is_empty)

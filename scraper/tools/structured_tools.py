"""The tool `extract_structured`: machine-readable data of a page, and records of its list."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scraper.extract.fields.model import FieldRequest
from scraper.render import fields as render_fields
from scraper.render import structured as render_structured
from scraper.render.json_answers import StructuredAnswer
from scraper.settings import Settings
from scraper.tools.model import (
    FORMAT,
    Parameter,
    Parameters,
    Tool,
    ToolAnswer,
    ToolCall,
    body_budget,
    json_answer,
    make_tool,
    new_region,
)
from scraper.tools.reading_tools import URL, check_url
from scraper.values.types import BooleanValue

if TYPE_CHECKING:
    from scraper.services import Services


def extract_structured_tool(settings: Settings) -> Tool:
    """Return `extract_structured`."""
    return make_tool(
        "extract_structured",
        "Structured data of a web page",
        Parameters(
            URL, FORMAT, Parameter("records", BooleanValue(), "Rows of the list on the page instead.", default=False)
        ),
        _extract_structured,
        answer=StructuredAnswer,
        check=check_url,
    )


async def _extract_structured(services: Services, arguments: dict[str, Any], call: ToolCall) -> ToolAnswer:
    if arguments["records"]:
        return await _extract_fields(services, arguments, call)
    data = await services.structured.extract(
        arguments["url"], principal=call.principal, deadline_s=call.deadline_s, progress=call.progress
    )
    budget = body_budget(services.settings)
    is_empty = not (data.json_ld or data.microdata or data.opengraph or data.rdfa or data.xhr)
    if arguments["format"] == "json":
        return replace(json_answer(render_structured.as_json(data, budget=budget)), is_empty=is_empty)
    return ToolAnswer(render_structured.as_markdown(data, region=new_region(), budget=budget), is_empty=is_empty)


async def _extract_fields(services: Services, arguments: dict[str, Any], call: ToolCall) -> ToolAnswer:
    request = FieldRequest(records=arguments["records"])
    found = await services.fields.read(
        arguments["url"], request, principal=call.principal, deadline_s=call.deadline_s, progress=call.progress
    )
    budget = body_budget(services.settings)
    if arguments["format"] == "json":
        return json_answer(render_fields.as_json(found, budget=budget))
    return ToolAnswer(render_fields.as_markdown(found, region=new_region(), budget=budget))

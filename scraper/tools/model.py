"""Define tools: parameters with JSON Schemas, calls, answers, and the conversion of errors to answers."""

import hashlib
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from scraper.call_context import AskUser, ProgressCallback
from scraper.errors import InternalError, InvalidArgumentError, ScraperError
from scraper.render.json_truncation import compact_json
from scraper.render.page import BODY_BUDGET, MAX_LENGTH
from scraper.render.untrusted_text import error_sentence
from scraper.settings import Settings
from scraper.values.text import ECHO_CHARS, read_file, read_table, suggest, truncate
from scraper.values.types import ChoiceValue, InvalidValueError, NumberValue, ObjectValue, StringValue, ValueType

if TYPE_CHECKING:
    from scraper.facts.fields.model import PageFields
    from scraper.model import Reading

Services: TypeAlias = Any
"""`scraper.services.Services`. Modules that only pass it on do not import all that it consists of."""

TEXT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"result": {"type": "string"}},
    "required": ["result"],
}
"""Schema of an answer in Markdown."""

_ANSWERS = read_table(__package__, "answers.toml")


def schema_of(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a type in the notation of `answers.toml`, without references."""
    if "|" in kind:
        parts = [schema_of(part.strip()) for part in kind.split("|")]
        if all(set(part) == {"type"} for part in parts):
            return {"type": [part["type"] for part in parts]}
        return _merge_objects(parts)
    if kind.startswith("["):
        return {"type": "array", "items": schema_of(kind[1:-1])}
    if kind.startswith("{"):
        # No boolean: a library that converts schemas expects a schema.
        return {"type": "object", "additionalProperties": schema_of(kind[1:-1])}
    if kind not in _ANSWERS:
        return {} if kind == "any" else {"type": kind}
    keys = dict(_ANSWERS[kind])
    schema = schema_of(keys.pop("extends")) if "extends" in keys else {"properties": {}, "required": []}
    schema["properties"] |= {name: schema_of(value.removesuffix("?")) for name, value in keys.items()}
    schema["required"] += [name for name, value in keys.items() if not value.endswith("?")]
    return {"type": "object", **schema}


def _merge_objects(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of an object with the required keys of one schema; many clients accept no other type."""
    properties: dict[str, Any] = {}
    for schema in schemas:
        properties |= schema["properties"]
    required = [{"required": schema["required"]} for schema in schemas]
    return {"type": "object", "properties": properties, "anyOf": required}


def output_schema(data: Mapping[str, Any] | None, *, has_text: bool, wraps_lists: bool) -> dict[str, Any]:
    """Return the schema of a tool's structured content, from that of its answers in JSON.

    With `has_text`, it also answers in Markdown, as `{"result": text}`. `wraps_lists` is for clients that accept only
    objects: a list is then `{"result": list}`.
    """
    if data is None:
        return dict(TEXT_SCHEMA)
    if data["type"] == "object":
        return _merge_objects([dict(TEXT_SCHEMA), dict(data)]) if has_text else dict(data)
    if wraps_lists:
        result = {"anyOf": [{"type": "string"}, data]} if has_text else data
        return {"type": "object", "properties": {"result": result}, "required": ["result"]}
    return {"anyOf": [TEXT_SCHEMA, data]} if has_text else dict(data)


_LOG = logging.getLogger(__name__)

RESULT_CHARS = MAX_LENGTH + 20_000
"""Characters of the largest answer that can be requested, including header and JSON quoting."""
_REGION_BYTES = 4
"""Bytes. A page cannot guess 32 random bits that are generated after it was read, and similar marks are broken up."""
_REGION_KEY = secrets.token_bytes(16)
_MAX_FAULTS = 3
"""Faults listed in one error message."""

_SIMILARITY = 0.5
"""Minimum similarity of an unknown argument to the suggested one; num_results and max_results have 0.82."""
_TYPO_SIMILARITY = 0.75
"""Similarity from which an unknown argument may be a misspelled one; two swapped letters of four leave 0.75."""
_NEAR_TYPO_SIMILARITY = 0.82
"""Similarity from which its value does not matter: `lenght` has 0.83, `state` of other programs 0.8 with `start`."""
_MAX_FOREIGN = 20
"""Arguments of a call that are compared with the parameters, which takes 0.2 ms each."""
_NAME_PARTS = re.compile("[A-Z]?[a-z0-9]+|[A-Z]+")
_DEFAULT_ANSWER_TOKENS: Any = Settings.__dataclass_fields__["max_answer_tokens"].default


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool."""

    name: str
    kind: ValueType
    about: str
    default: Any = None
    required: bool = False
    old_name: str = ""
    """Earlier name, which calls may still use."""

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the parameter."""
        schema = self.kind.schema() | {"description": self.about}
        if self.default is not None:
            schema["default"] = self.default
        return schema

    def parse(self, value: object) -> Any:
        """Parse the argument; blank is absent if it is optional, because some clients fill in every parameter."""
        if value is None and self.required:
            raise InvalidValueError("given")
        allows_blank = isinstance(self.kind, StringValue) and self.kind.allow_blank
        is_absent = value is None or (not self.required and _is_blank(value) and not allows_blank)
        return self.default if is_absent else self.kind.parse(value)

    def accepts(self, value: object) -> bool:
        """Return True for a value of this parameter."""
        try:
            return self.kind.parse(value) is not None
        except InvalidValueError:
            return False


def _is_blank(value: object) -> bool:
    """Return True for a text without words, and for an object or list without other values."""
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, Mapping | list | tuple) and all(one is None or _is_blank(one) for one in value)


class Parameters:
    """All parameters of a tool."""

    def __init__(self, *parameters: Parameter) -> None:
        """Store the parameters in the order of the schema."""
        self._parameters = {parameter.name: parameter for parameter in parameters}

    def schema(self) -> dict[str, Any]:
        """Return a strict JSON Schema without unions, references and titles, which some clients reject."""
        return {
            "type": "object",
            "properties": {name: parameter.schema() for name, parameter in self._parameters.items()},
            "required": [name for name, parameter in self._parameters.items() if parameter.required],
        }

    def _rename(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        names = {parameter.old_name: name for name, parameter in self._parameters.items()}
        return {names.get(name, name): value for name, value in arguments.items()}

    def foreign(self, arguments: Mapping[str, Any]) -> list[str]:
        """Return the names that resemble no parameter: arguments that clients add for themselves, if they are few."""
        arguments = self._rename(arguments)
        unknown = [name for name in arguments if name not in self._parameters]
        known = [set(_split_name(name)) for name in self._parameters]

        def is_misspelled(name: str) -> bool:
            words = set(_split_name(name))
            if words in known or suggest(name.lower(), self._parameters, _NEAR_TYPO_SIMILARITY):
                return True
            similar = [
                parameter
                for parameter, own in zip(self._parameters.values(), known, strict=True)
                if words <= own or own <= words or suggest(name.lower(), [parameter.name], _TYPO_SIMILARITY)
            ]
            return any(parameter.accepts(arguments[name]) for parameter in similar)

        return [name for name in unknown if not is_misspelled(name)] if len(unknown) <= _MAX_FOREIGN else []

    def parse(self, arguments: Mapping[str, Any], ignored: Collection[str] = ()) -> dict[str, Any]:
        """Return the values by name, or raise InvalidArgumentError; names in `ignored` are no fault of their own."""
        arguments = self._rename(arguments)
        unknown = [name for name in arguments if name not in self._parameters]
        known = f"Known: {', '.join(self._parameters)}." if self._parameters else "None is taken."
        faults = [
            f'Unknown argument "{truncate(name)}"{suggest(name.lower(), self._parameters, _SIMILARITY)}. {known}'
            for name in unknown[:_MAX_FAULTS]
        ]
        are_faults = len(unknown) > len(ignored)
        values: dict[str, Any] = {}
        for name, parameter in self._parameters.items():
            try:
                values[name] = parameter.parse(arguments.get(name))
            except InvalidValueError as error:
                faults.append(f"{name} must be {error}.")
                are_faults = True
        if are_faults:
            raise InvalidArgumentError(" ".join(faults[:_MAX_FAULTS]), target=", ".join(arguments)[:ECHO_CHARS])
        return values


def _split_name(name: str) -> list[str]:
    """Return the words of `max_results` or `maxResults`."""
    return [part.lower() for part in _NAME_PARTS.findall(name)] or [name]


class ParametersValue(ObjectValue):
    """Value type of an object argument with parameters of its own."""

    def __init__(self, *parameters: Parameter) -> None:
        """Store the parameters of the object."""
        self._parameters = Parameters(*parameters)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the object."""
        return {name: part for name, part in self._parameters.schema().items() if name != "required"}

    def parse(self, value: object) -> dict[str, Any]:
        """Return the value of each parameter of the object by name; raise InvalidValueError with its faults."""
        try:
            return self._parameters.parse(super().parse(value))
        except InvalidArgumentError as error:
            raise InvalidValueError(f"right inside: {error}") from None


RENDER = Parameter(
    "render",
    ChoiceValue(("auto", "http", "browser")),
    "http: no scripts; browser: scripts; auto: if needed.",
    default="auto",
)
PROFILE = Parameter("profile", StringValue(), "Login to use.")
FORMAT = Parameter("format", ChoiceValue(("markdown", "json")), "Answer format.", default="markdown")
"""Parameters of several tools, as are `RENDER` and `PROFILE`."""


MIN_TOKENS, MAX_TOKENS = 100, 8_000
"""Bounds of a budget of passages."""


def max_age_parameter(about: str, settings: Settings) -> Parameter:
    """Return the parameter for the maximum age of a cached copy, with the operator's default in its description."""
    description = f"{about} Default: {settings.cache_ttl_h:g}."
    return Parameter("max_age_hours", NumberValue(0, 87_600), description)


def max_age_s(arguments: Mapping[str, Any]) -> float | None:
    """Return the requested maximum age in seconds, or None for the operator's default."""
    hours: float | None = arguments["max_age_hours"]
    return None if hours is None else hours * 3_600.0


class ServiceOptions(TypedDict):
    """What services that read several pages take of a call."""

    principal: str
    deadline_s: float
    progress: ProgressCallback | None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Caller, deadline and progress callback of one call."""

    principal: str = "local"
    deadline_s: float = 55.0
    progress: ProgressCallback | None = None
    resume_key: str = ""
    """Name of work that another server may continue if this one ends; "" if the call ends with its server."""
    ask: AskUser | None = None
    """Callback that asks the person at the client a question; None if the client cannot ask."""
    answer_tokens: int | None = None
    """Size of the answer; None for that of the settings."""
    session_owner: str = ""
    """Name that only calls with the same sessions share, within those of the caller."""
    may_act: bool = True
    """False to change nothing on sites, whatever the settings allow."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files to upload by name, which the caller has read itself."""

    @property
    def options(self) -> ServiceOptions:
        """Caller, deadline and progress callback as arguments of a service."""
        return {"principal": self.principal, "deadline_s": self.deadline_s, "progress": self.progress}


@dataclass(frozen=True, slots=True)
class Media:
    """Image or file of an answer."""

    data: bytes = field(repr=False)
    media_type: str
    uri: str = ""
    """URI of the resource from which a client reads the file; empty for an image inside the answer."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """Answer as text, and as data if JSON was requested."""

    text: str
    structured: dict[str, Any] | list[Any] | None = None
    is_error: bool = False
    failures: tuple[ScraperError, ...] = field(default=(), compare=False)
    """Error of the call, or errors of its URLs or engines; the command line derives its exit code from them."""
    is_empty: bool = False
    """True if the call succeeded but found nothing."""
    media: tuple[Media, ...] = ()
    """Images and files that follow the text."""
    reading: "Reading | None" = field(default=None, compare=False)
    """Complete page or document of which the text shows a part."""
    fields: "tuple[tuple[str, PageFields | ScraperError], ...]" = field(default=(), compare=False)
    """Fields or all records of each URL, of which the text shows a part."""

    @property
    def errors_by_url(self) -> dict[str, ScraperError]:
        """Error of each canonical URL or other argument that caused one."""
        return {failure.target: failure for failure in self.failures}


Run = Callable[[Services, Mapping[str, Any], ToolCall], Awaitable[ToolAnswer]]
"""Run a tool with arguments that are not parsed yet; raise only CancelledError."""
Work = Callable[[Services, dict[str, Any], ToolCall], Awaitable[ToolAnswer]]
"""Function of a tool; it gets parsed arguments and may raise errors."""
Check = Callable[[Mapping[str, Any]], object]
"""Check of parsed arguments beyond types and bounds; raises a ScraperError."""


@dataclass(frozen=True, slots=True)
class BoundTool:
    """Function of a tool with its parameters. A call raises only CancelledError."""

    name: str
    parameters: Parameters
    work: Work
    check: Check | None = None

    async def __call__(self, services: Services, arguments: Mapping[str, Any], call: ToolCall) -> ToolAnswer:
        """Parse the arguments, run the function and return its answer; errors become answers."""
        try:
            answer = await self.work(services, self._parse(arguments), call)
            names = [truncate(name) for name in self.parameters.foreign(arguments)[:_MAX_FAULTS]]
            note = f"Ignored: {self.name} has no argument {', '.join(names)}."
            if names and answer.structured is not None:
                _LOG.info("%s", note)
            elif names:
                answer = replace(answer, text=f"{answer.text}\n\n{note}")
            return answer
        except ScraperError as error:
            return ToolAnswer(error_sentence(error), is_error=True, failures=(error,))
        except Exception:
            number = secrets.token_hex(4)
            _LOG.exception("internal error %s in tool %s", number, self.name)
            fault = InternalError(
                f"Internal error {number}: a fault of this server, recorded in its log.",
                next_step="Try other arguments, or another source.",
            )
            return ToolAnswer(error_sentence(fault), is_error=True, failures=(fault,))

    def fault(self, arguments: Mapping[str, Any]) -> ToolAnswer | None:
        """Return the error answer for invalid arguments, or None if they are valid."""
        try:
            self._parse(arguments)
        except ScraperError as error:
            return ToolAnswer(error_sentence(error), is_error=True, failures=(error,))
        return None

    def _parse(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        values = self.parameters.parse(arguments, self.parameters.foreign(arguments))
        if self.check is not None:
            self.check(values)
        return values


@dataclass(frozen=True, slots=True)
class Tool:
    """Tool as clients see it; `run` raises only CancelledError."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    run: Run
    open_world: bool = True
    """True if the tool reads the web."""
    read_only: bool = True
    """True if the tool changes nothing that callers can observe."""
    destructive: bool = False
    """True if the tool may replace data."""
    idempotent: bool = True
    """True if repeating a call has no further effect."""
    result_chars: int | None = None
    """Maximum characters of an answer, if they exceed the default limit of some clients."""
    data_schema: Mapping[str, Any] | None = None
    """JSON Schema of answers in JSON; None if all answers are Markdown."""
    asks: bool = False
    """True if a call may ask the person at the client for consent."""
    listed: bool = True
    """True if `tools/list` has the tool; others are found by `find_tools` and `tools/search`."""
    has_media: bool = False
    """True if its answers hold an image or a file, beside which there is no structured content."""

    @property
    def has_text(self) -> bool:
        """True if the tool can answer in Markdown."""
        return self.data_schema is None or FORMAT.name in self.input_schema["properties"]

    def output_schema(self, *, wraps_lists: bool) -> dict[str, Any] | None:
        """Return the JSON Schema of structured content; `wraps_lists` is for clients that accept only objects."""
        if self.has_media:
            return None
        return output_schema(self.data_schema, has_text=self.has_text, wraps_lists=wraps_lists)

    def fault(self, arguments: Mapping[str, Any]) -> ToolAnswer | None:
        """Return the error answer for invalid arguments, or None; only a `BoundTool` checks them before a call."""
        return self.run.fault(arguments) if isinstance(self.run, BoundTool) else None


def make_tool(
    name: str,
    title: str,
    parameters: Parameters,
    work: Work,
    *,
    check: Check | None = None,
    description: str | None = None,
    **options: Any,
) -> Tool:
    """Return a tool with further options of `Tool`; by default, it only reads.

    `description` is the name of its description file, and of its answer in `answers.toml`, if it differs from `name`.
    """
    label = description or name
    kind = _ANSWERS["tools"].get(label)
    return Tool(
        name=name,
        title=title,
        description=read_file(__package__, "descriptions", f"{label}.md").strip(),
        input_schema=parameters.schema(),
        run=BoundTool(name, parameters, work, check),
        data_schema=schema_of(kind) if kind else None,
        **options,
    )


def json_answer(data: dict[str, Any] | list[Any], **fields: Any) -> ToolAnswer:
    """Return data as a JSON answer with further fields of `ToolAnswer`."""
    return ToolAnswer(compact_json(data), data, **fields)


def new_region() -> str:
    """Return a random ID for the untrusted regions of one answer."""
    return secrets.token_hex(_REGION_BYTES)


def region_of(text: str) -> str:
    """Return an ID for the untrusted region of a listed text: the same each time, and none that a page can know."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), key=_REGION_KEY, digest_size=_REGION_BYTES).hexdigest()


def body_budget(settings: Settings, call: ToolCall | None = None) -> int:
    """Return the tokens for page text in an answer; the remaining tokens are for header and region marks."""
    tokens = settings.max_answer_tokens if call is None or call.answer_tokens is None else call.answer_tokens
    return round(BODY_BUDGET * tokens / int(_DEFAULT_ANSWER_TOKENS))

"""What a caller sends is understood where it is plain, and answered with what would be right elsewhere."""

from __future__ import annotations

from typing import Any, cast

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.errors import InvalidArgumentError
from scraper.tools import registry
from scraper.tools.model import Parameter, Parameters, ToolCall, max_age_s
from scraper.values.types import BooleanValue, ChoiceValue, IntegerValue, NumberValue, StringListValue, StringValue

PARAMETERS = Parameters(
    Parameter("url", StringValue(), "Where.", required=True),
    Parameter("render", ChoiceValue(("auto", "http", "browser")), "How.", default="auto"),
    Parameter("force_refresh", BooleanValue(), "Anew.", default=False),
    Parameter("max_age_hours", NumberValue(0, 1_000), "How old."),
    Parameter("length", IntegerValue(1, 100_000), "How much."),
)
LIST = Parameters(Parameter("urls", StringListValue(3), "Where.", required=True))

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    "names", ["bing,mojeek", "bing, mojeek", ["bing,mojeek"], ["bing", "mojeek"], '["bing","mojeek"]']
)
def test_names_may_be_separated_by_commas(names: object) -> None:
    engines = Parameters(Parameter("engines", StringListValue(2, has_names=True), "Which."))
    assert engines.parse({"engines": names}) == {"engines": ("bing", "mojeek")}
    assert LIST.parse({"urls": "https://a.example/1,2"}) == {"urls": ("https://a.example/1,2",)}


def read(**arguments: Any) -> dict[str, Any]:
    return PARAMETERS.parse({"url": "https://example.org", **arguments})


def fault(parameters: Parameters = PARAMETERS, **arguments: Any) -> str:
    with pytest.raises(InvalidArgumentError) as caught:
        parameters.parse(arguments)
    return str(caught.value)


def test_what_is_not_given_takes_its_default() -> None:
    assert read() == {
        "url": "https://example.org",
        "render": "auto",
        "force_refresh": False,
        "max_age_hours": None,
        "length": None,
    }


@pytest.mark.parametrize("absent", [None, "", " \n", [], [""], {}], ids=repr)
def test_null_and_blank_mean_not_given(absent: object) -> None:
    assert read(render=absent, force_refresh=absent, max_age_hours=absent, length=absent) == read()


@pytest.mark.parametrize("name", ["toolCallId", "chatInput", "action", "wait_for_previous", "_meta", "x" * 5_000])
async def test_arguments_of_the_client_itself_are_ignored_and_named(name: str) -> None:
    assert PARAMETERS.foreign({"url": "u", name: "1"}) == [name]
    assert PARAMETERS.parse({"url": "u", name: "1"}, [name])["url"] == "u"
    (tool,) = (one for one in registry.tools() if one.name == "find_tools")
    answer = await tool.run(cast(Any, None), {"query": "read a page", name: {"a": 1}}, ToolCall())
    assert not answer.is_error and f"Ignored: find_tools has no argument {name[:59]}" in answer.text


@pytest.mark.parametrize(("name", "value"), [("state", {"step": 1}), ("max", "x"), ("length_of_wait", True)])
def test_a_similar_name_whose_value_does_not_fit_is_of_the_client(name: str, value: object) -> None:
    assert PARAMETERS.foreign({"url": "u", name: value}) == [name]


@pytest.mark.parametrize("name", ["lenght", "max_age", "maxAgeHours", "Length", "forceRefresh", "urls", "rendr"])
def test_misspelled_names_stay_errors(name: str) -> None:
    assert PARAMETERS.foreign({"url": "u", name: 1}) == []
    arguments: dict[str, Any] = {"url": "u", name: 1}
    assert "did you mean" in fault(**arguments)


@pytest.mark.parametrize(
    ("arguments", "name", "meant"),
    [
        ({"length": "5000"}, "length", 5_000),
        ({"length": 5_000.0}, "length", 5_000),
        ({"max_age_hours": "0.5"}, "max_age_hours", 0.5),
        ({"max_age_hours": 0}, "max_age_hours", 0),
        ({"force_refresh": "True"}, "force_refresh", True),
        ({"force_refresh": "false"}, "force_refresh", False),
        ({"render": " Browser "}, "render", "browser"),
    ],
)
def test_a_harmless_form_is_understood(arguments: dict[str, Any], name: str, meant: object) -> None:
    assert read(**arguments)[name] == meant


@pytest.mark.parametrize(
    ("value", "meant"),
    [(["a", "b"], ("a", "b")), ('["a", "b"]', ("a", "b")), ("a", ("a",)), ("[not json", ("[not json",))],
)
def test_a_list_is_taken_as_json_text_and_as_a_single_item_too(value: object, meant: tuple[str, ...]) -> None:
    assert LIST.parse({"urls": value}) == {"urls": meant}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {"url": "u", "max_age": 3},
            'Unknown argument "max_age" (did you mean "max_age_hours"?). '
            "Known: url, render, force_refresh, max_age_hours, length.",
        ),
        ({"url": "u", "xyz": 3}, 'Unknown argument "xyz". Known: url, render, force_refresh, max_age_hours, length.'),
        ({}, "url must be given."),
        ({"url": None}, "url must be given."),
        ({"url": " \n"}, "url must be given: it is blank."),
        ({"url": ["u"]}, "url must be a string, not a list."),
        ({"url": 7}, "url must be a string, not a number."),
        (
            {"url": "u", "render": "brwser"},
            'render must be one of auto, http, browser, not "brwser" (did you mean "browser"?).',
        ),
        ({"url": "u", "render": 1}, "render must be one of auto, http, browser, not 1."),
        ({"url": "u", "render": ["auto"]}, "render must be one of auto, http, browser, not a list."),
        ({"url": "u", "force_refresh": "maybe"}, 'force_refresh must be true or false, not "maybe".'),
        ({"url": "u", "force_refresh": 1}, "force_refresh must be true or false, not 1."),
        ({"url": "u", "max_age_hours": -1}, "max_age_hours must be a number from 0 to 1,000, not -1."),
        ({"url": "u", "max_age_hours": "7d"}, 'max_age_hours must be a number from 0 to 1,000, not "7d".'),
        ({"url": "u", "max_age_hours": True}, "max_age_hours must be a number from 0 to 1,000, not true."),
        ({"url": "u", "length": 0}, "length must be a whole number from 1 to 100,000, not 0."),
        ({"url": "u", "length": 2.5}, "length must be a whole number from 1 to 100,000, not 2.5."),
        ({"url": "u", "length": "1e999"}, 'length must be a whole number from 1 to 100,000, not "1e999".'),
    ],
)
def test_a_fault_is_answered_with_what_would_be_right(arguments: dict[str, Any], sentence: str) -> None:
    assert fault(**arguments) == sentence


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([], "urls must be a list of 1 to 3 strings; it is empty."),
        ("[]", "urls must be a list of 1 to 3 strings; it is empty."),
        (["a"] * 4, "urls must be a list of at most 3 strings, not 4: make several calls."),
        (["a", 7], "urls must be a list of strings; item 2 is a number."),
        (["a", {"url": "b"}], "urls must be a list of strings; item 2 is an object."),
        (["", "a"], "urls must be a list of strings; item 1 is blank."),
        ({"url": "a"}, "urls must be a list of strings; item 1 is an object."),
        (None, "urls must be given."),
    ],
)
def test_a_wrong_list_is_answered_with_the_item_that_is_wrong(value: object, sentence: str) -> None:
    assert fault(LIST, urls=value) == sentence


def test_all_faults_are_reported_at_once() -> None:
    output = fault(ulr="u", render="fast")
    assert 'did you mean "url"' in output and "url must be given" in output and "render must be" in output


def test_the_answer_to_a_huge_argument_is_small() -> None:
    huge = "x" * 100_000
    arguments: dict[str, Any] = {huge: 1, "url": "u", "render": huge, "length": huge}
    assert len(fault(**arguments)) < 1_000


@given(st.dictionaries(st.sampled_from(["url", "render", "length", "max_age_hours", "other"]), JSON))
def test_whatever_is_sent_is_understood_or_explained(arguments: dict[str, Any]) -> None:
    try:
        values = PARAMETERS.parse(arguments)
    except InvalidArgumentError as error:
        assert 0 < len(str(error)) < 1_000
    else:
        given_values = {name: value for name, value in values.items() if value is not None}
        jsonschema.validate(given_values, PARAMETERS.schema())


@pytest.mark.parametrize("parameters", [PARAMETERS, LIST])
def test_schemas_are_strict_and_plain_enough_for_every_client(parameters: Parameters) -> None:
    schema = parameters.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    for name, entry in schema["properties"].items():
        assert isinstance(entry["type"], str), name
        assert entry["description"]
        assert not {"anyOf", "oneOf", "$ref", "title"} & set(entry), name


def test_a_text_may_be_as_long_as_its_tool_takes_and_no_longer() -> None:
    bounded = Parameters(Parameter("pages", StringValue(5), "Which."))
    assert bounded.parse({"pages": "1-3,9"}) == {"pages": "1-3,9"}
    assert fault(bounded, pages="1-3,90") == "pages must be a string of at most 5 characters, not 6."


@pytest.mark.parametrize(
    ("tool", "old", "new", "value"), [("map", "max_pages", "limit", 3), ("crawl", "include", "include_paths", ["/a/*"])]
)
def test_an_old_name_of_an_argument_is_accepted(tool: str, old: str, new: str, value: object) -> None:
    (known,) = [known for known in registry.tools() if known.name == tool]
    assert old not in known.input_schema["properties"]
    assert new in known.input_schema["properties"]
    assert known.fault({"url": "http://a.example/", old: value}) is None
    assert known.fault({"url": "http://a.example/", old: {"a": 1}}) is not None


def test_a_tool_without_parameters_rejects_arguments() -> None:
    assert fault(Parameters(), query="x") == 'Unknown argument "query". None is taken.'


@pytest.mark.parametrize(("tool", "name"), [("cache_search", "query"), ("compare", "question"), ("read_doc", "pages")])
async def test_a_text_that_would_hold_up_everyone_is_refused_before_any_work(tool: str, name: str) -> None:
    (tested,) = [known for known in registry.tools() if known.name == tool]
    places = ["http://a.example/", "http://b.example/"]
    arguments = {"source": places[0], "urls": places, name: "1," * 100_000}
    taken = {key: value for key, value in arguments.items() if key in tested.input_schema["properties"]}
    nothing: Any = None
    answer = await tested.run(nothing, taken, ToolCall())
    assert answer.is_error and answer.text.startswith(f"{name} must be a string of at most ")


def test_an_age_in_hours_is_converted_to_seconds() -> None:
    assert [max_age_s({"max_age_hours": hours}) for hours in (None, 0, 0.5)] == [None, 0, 1_800]

"""Value types of settings, command line options and tool arguments.

Each type parses a value, names itself for help texts and describes itself as JSON Schema.
"""

from scraper.values.network import (
    DATABASE_URL,
    HOST_HEADER,
    HOST_MAPPING,
    KEY_PIN,
    NETWORK,
    ORIGIN,
    PROXY_URL,
    STATE_URL,
    WEB_ADDRESS,
)
from scraper.values.types import (
    AnyString,
    BooleanValue,
    ChoiceValue,
    CommaListValue,
    CustomValue,
    IntegerValue,
    InvalidValueError,
    LanguageValue,
    NumberValue,
    ObjectValue,
    PathValue,
    StringListValue,
    StringValue,
    TimeZoneValue,
    ValueType,
    closest_match,
    parse_object,
)

__all__ = [
    "DATABASE_URL",
    "HOST_HEADER",
    "HOST_MAPPING",
    "KEY_PIN",
    "NETWORK",
    "ORIGIN",
    "PROXY_URL",
    "STATE_URL",
    "WEB_ADDRESS",
    "AnyString",
    "BooleanValue",
    "ChoiceValue",
    "CommaListValue",
    "CustomValue",
    "IntegerValue",
    "InvalidValueError",
    "LanguageValue",
    "NumberValue",
    "ObjectValue",
    "PathValue",
    "StringListValue",
    "StringValue",
    "TimeZoneValue",
    "ValueType",
    "closest_match",
    "parse_object",
]

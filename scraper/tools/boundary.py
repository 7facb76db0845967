"""The one place where what went wrong becomes an answer."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from scraper.errors import ScraperError
from scraper.render.errors import sentence
from scraper.tools.arguments import Parameters
from scraper.tools.model import Answer, Call, Run

if TYPE_CHECKING:
    from scraper.app import App

__all__ = ["Work", "guarded"]

log = logging.getLogger(__name__)

Work = Callable[["App", dict[str, Any], Call], Awaitable[Answer]]
"""What a tool does with arguments that are understood; may raise."""


def guarded(name: str, parameters: Parameters, work: Work) -> Run:
    """`work` behind its arguments, raising nothing but cancellation."""

    async def run(app: App, arguments: Mapping[str, Any], call: Call) -> Answer:
        try:
            return await work(app, parameters.read(arguments), call)
        except ScraperError as error:
            return Answer(sentence(error), is_error=True)
        except Exception:
            number = secrets.token_hex(4)
            log.exception("internal error %s in tool %s", number, name)
            return Answer(
                f"Internal error {number}: a fault of this server, told in its log. "
                "Try other arguments, or another source.",
                is_error=True,
            )

    return run

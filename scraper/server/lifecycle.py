"""Open and close the services of a server process, collect stop signals, and limit the time of a shutdown."""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from scraper.background_tasks import on_signals
from scraper.errors import format_error, hide_folders
from scraper.settings import Settings
from scraper.tools.model import Services, Tool

if TYPE_CHECKING:
    from scraper.server.access import OAuthResourceServer

_LOG = logging.getLogger(__name__)

A = TypeVar("A")
ServicesFactory = Callable[[], contextlib.AbstractAsyncContextManager[A]]
"""Return the context manager of the services; called in a thread, because its imports take half a second."""

LAST_BYTES_S = 2.0
"""Seconds that clients have to send and receive their last bytes if nothing else took time."""
_SHUTDOWN_S = 9.3
"""Seconds of the default drain plus a margin. Canceling calls and closing browsers and connections take up to
2.1 s more on a busy machine; the whole shutdown must end within 12 s."""
_MIN_LAST_BYTES_S = 0.3


class ServicesOpenError(Exception):
    """The services cannot be opened; the message gives the cause for the operator."""


class ServicesHolder(Generic[A]):
    """Services of one process: opened in the background, shared by all connections, closed at the end.

    A client may give up 5 s after `initialize`, so nothing slow is imported or started before that response. The
    lifespan of the SDK would open one set of services for each connection.
    """

    def __init__(self, factory: ServicesFactory[A]) -> None:
        """Create a holder that has not opened its services."""
        self._factory = factory
        self._closing = asyncio.Event()
        self._opened: asyncio.Future[A] | None = None
        self._services_task: asyncio.Task[None] | None = None

    def open(self) -> asyncio.Future[A]:
        """Start opening the services unless this has started before; a failed attempt is repeated."""
        if self._opened is None or _has_failed(self._opened):
            self._opened = asyncio.get_running_loop().create_future()
            # Retrieves the exception, so that asyncio does not report one without a waiter as forgotten.
            self._opened.add_done_callback(_has_failed)
            self._services_task = asyncio.create_task(self._keep(self._opened), name="app")
        return self._opened

    async def services(self) -> A:
        """Wait for the services and return them, or raise ServicesOpenError."""
        return await asyncio.shield(self.open())

    def present(self) -> A | None:
        """Return the services, or None if they are not open."""
        if self._opened is None or not self._opened.done() or _has_failed(self._opened):
            return None
        return self._opened.result()

    async def aclose(self) -> None:
        """Close the services; cancel an opening in progress."""
        self._closing.set()
        if self._services_task is not None:
            if self.present() is None:
                self._services_task.cancel()
            await asyncio.wait({self._services_task})

    async def _keep(self, opening: asyncio.Future[A]) -> None:
        """Open, hold and close the services in one task, as its task groups require."""
        try:
            context = await asyncio.to_thread(self._factory)
            async with context as app:
                opening.set_result(app)
                await self._closing.wait()
        except Exception as error:
            # The message of a ValueError, a wrong setting, is complete without a traceback.
            trace = not isinstance(error, ValueError)
            action = "close" if opening.done() else "open"
            _LOG.error("the services do not %s: %s", action, format_error(error), exc_info=trace)
            if not opening.done():
                reason = hide_folders(format_error(error))
                opening.set_exception(ServicesOpenError(f"The server cannot start its services: {reason}"))
        finally:
            opening.cancel()


def hold_services(factory: ServicesFactory[A]) -> contextlib.aclosing[ServicesHolder[A]]:
    """Return a context manager that yields a new holder and closes it at the end."""
    return contextlib.aclosing(ServicesHolder(factory))


@dataclass(frozen=True, slots=True)
class StopSignals:
    """Stop signals: `requested` is set after one signal, `at_once` after a second."""

    requested: asyncio.Event = field(default_factory=asyncio.Event)
    at_once: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self) -> None:
        """Record one more signal."""
        (self.at_once if self.requested.is_set() else self.requested).set()


@contextlib.contextmanager
def stop_signals() -> Iterator[StopSignals]:
    """Collect SIGTERM, SIGINT and SIGHUP while the block runs; uvicorn would cut all responses at the first."""
    stops = StopSignals()
    numbers = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # `nohup` ignores it to outlive the terminal
        numbers.append(signal.SIGHUP)
    with on_signals(numbers, stops.note):
        yield stops


class ActiveCount:
    """Number of active blocks, with an event that is set while there are none."""

    def __init__(self) -> None:
        """Start without an active block."""
        self.count = 0
        self.none = asyncio.Event()
        self.none.set()

    @contextlib.contextmanager
    def add(self) -> Iterator[None]:
        """Count the block while it runs."""
        self.count += 1
        self.none.clear()
        try:
            yield
        finally:
            self.count -= 1
            if not self.count:
                self.none.set()


async def wait_for_first(*waits: Awaitable[Any]) -> None:
    """Return when the first awaitable ends; those that are tasks already continue to run."""
    futures = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for future, wait in zip(futures, waits, strict=True):
            if future is not wait:
                future.cancel()


def last_bytes_s(waited_s: float) -> float:
    """Return the seconds that clients have for their last bytes, at most `LAST_BYTES_S`.

    The server has waited `waited_s` for running calls. A client silent for so long will hardly send anything now.
    """
    return min(LAST_BYTES_S, max(_MIN_LAST_BYTES_S, _SHUTDOWN_S - waited_s))


@dataclass(frozen=True, slots=True)
class ServerContext:
    """Parts that the HTTP and the stdio server have in common."""

    settings: Settings
    tools: Sequence[Tool]
    holder: ServicesHolder[Services]
    stops: StopSignals
    version: str
    openai_tools: Sequence[Tool] = ()
    issuer: "OAuthResourceServer | None" = None


def _has_failed(opening: asyncio.Future[A]) -> bool:
    return opening.done() and (opening.cancelled() or opening.exception() is not None)

"""Work that nothing can end, done where nobody waits for it: a program waits for the threads of its pools."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable


def aside(work: Callable[[], object], *, name: str) -> asyncio.Future[None]:
    """Do `work` in a thread of its own; what comes of it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    threading.Thread(target=done_in, args=(loop, work, done), name=name, daemon=True).start()
    return done


def done_in(loop: asyncio.AbstractEventLoop, work: Callable[[], object], done: asyncio.Future[None]) -> bool:
    """Do `work` in this thread and tell a loop what came of it; whether there is anybody left to be told."""
    fault: BaseException | None = None
    try:
        work()
    except BaseException as error:  # whatever it is, it belongs to whoever waits
        fault = error
    try:
        loop.call_soon_threadsafe(_end, done, fault)
    except RuntimeError:
        return False
    return True


def _end(done: asyncio.Future[None], fault: BaseException | None) -> None:
    if done.done():
        return
    if fault is None:
        done.set_result(None)
    else:
        done.set_exception(fault)

"""Requests of a step are awaited and named; requests that ran before it are not."""

from __future__ import annotations

import itertools
from functools import partial

import pytest

from browsers.acting.page_requests import StepRequests
from browsers.cdp.session import Connection, Session
from browsers.errors import PageCrashedError
from tests.browsers.silent_transport import SilentTransport

HOST = "https://shop.example"


class SentRequests:
    """Requests of a page of a session, whose events come from the test."""

    def __init__(self) -> None:
        self.session = Session(Connection(SilentTransport()), "tab")
        self.requests = StepRequests(self.session)
        self._numbers = itertools.count()

    def begin_call(self, *, is_acting: bool = True) -> None:
        self.requests.begin_call()
        self.requests.begin_step(is_acting=is_acting)

    def send(self, path: str, kind: str = "Fetch", *, session: Session | None = None, initiator: str = "script") -> str:
        request_id = str(next(self._numbers))
        request = {"url": HOST + path}
        event = {"requestId": request_id, "type": kind, "request": request, "initiator": {"type": initiator}}
        (session or self.session).receive({"method": "Network.requestWillBeSent", "params": event})
        return request_id

    def receive(self, request_id: str, event: str) -> None:
        self.session.receive({"method": f"Network.{event}", "params": {"requestId": request_id}})

    def answer(self, request_id: str) -> None:
        self.receive(request_id, "responseReceived")
        self.receive(request_id, "loadingFinished")

    @property
    def awaited(self) -> list[str]:
        return [request.path.removeprefix(HOST) for request in self.requests.in_flight()]

    def push(self, event: str) -> None:
        self.session.receive({"method": f"Network.{event}", "params": {}})


@pytest.fixture
def sent() -> SentRequests:
    return SentRequests()


def test_a_request_delays_its_own_step_and_the_first_step_of_the_next_call(sent: SentRequests) -> None:
    sent.begin_call()
    sent.send("/book")
    assert (sent.awaited, sent.requests.unanswered) == (["/book"], 1)
    sent.requests.begin_step(is_acting=False)
    assert (sent.awaited, sent.requests.unanswered) == ([], 1)


def test_the_next_call_awaits_what_still_runs_and_later_calls_only_name_it(sent: SentRequests) -> None:
    sent.begin_call()
    book = sent.send("/book")
    sent.begin_call(is_acting=False)
    assert sent.awaited == ["/book"]
    sent.begin_call()
    assert (sent.awaited, sent.requests.unanswered) == ([], 1)
    sent.answer(book)
    assert sent.requests.unanswered == 0


def test_a_request_of_the_page_itself_is_named_only_by_the_step_in_which_it_began(sent: SentRequests) -> None:
    sent.begin_call(is_acting=False)
    sent.send("/poll")
    assert sent.requests.unanswered == 1
    sent.requests.begin_step(is_acting=True)
    assert (sent.awaited, sent.requests.unanswered) == ([], 0)


@pytest.mark.parametrize("kind", ["EventSource", "Image", "Ping"])
def test_streams_and_requests_without_content_delay_no_step(sent: SentRequests, kind: str) -> None:
    sent.begin_call()
    sent.send("/stream", kind)
    assert (sent.awaited, sent.requests.unanswered) == ([], 0)


def test_the_next_round_of_a_long_poll_delays_a_step_only_until_content_comes(sent: SentRequests) -> None:
    sent.begin_call(is_acting=False)
    poll = sent.send("/poll?after=1")
    sent.requests.begin_step(is_acting=True)
    sent.receive(poll, "responseReceived")
    sent.send("/poll?after=2")
    # The step may have caused this request.
    assert (sent.awaited, sent.requests.unanswered) == (["/poll"], 1)
    sent.requests.on_content()
    assert (sent.awaited, sent.requests.unanswered) == ([], 1)


def test_the_next_round_of_a_long_poll_delays_no_step_that_only_looks(sent: SentRequests) -> None:
    sent.begin_call(is_acting=False)
    poll = sent.send("/poll?after=1")
    sent.begin_call(is_acting=False)
    for number in range(2, 5):
        sent.receive(poll, "responseReceived")
        poll = sent.send(f"/poll?after={number}")
    assert sent.requests.unanswered == 1
    sent.begin_call(is_acting=True)
    assert (sent.awaited, sent.requests.unanswered) == ([], 0)


def test_a_request_to_the_path_of_one_that_still_runs_is_awaited(sent: SentRequests) -> None:
    sent.begin_call()
    sent.send("/graphql")
    sent.requests.begin_step(is_acting=True)
    sent.send("/graphql")
    assert (sent.awaited, sent.requests.unanswered) == (["/graphql"], 2)


def test_a_change_and_the_state_after_it_are_no_polling(sent: SentRequests) -> None:
    for _ in range(2):
        sent.begin_call()
        sent.answer(sent.send("/graphql"))
        sent.send("/graphql")
        assert not sent.requests.is_polled(f"{HOST}/graphql")
    sent.requests.reset()
    sent.begin_call()
    for _ in range(3):
        sent.answer(sent.send("/status"))
    assert sent.requests.is_polled(f"{HOST}/status")


async def test_requests_of_a_frame_that_is_gone_have_ended(sent: SentRequests) -> None:
    frame = sent.session.child("frame")
    sent.requests.watch(frame)
    sent.begin_call()
    sent.send("/frame", session=frame)
    assert sent.awaited == ["/frame"]
    frame.fail(partial(PageCrashedError, "The frame is gone."))
    assert (sent.awaited, sent.requests.unanswered) == ([], 0)


def test_the_script_of_a_shared_worker_is_not_named(sent: SentRequests) -> None:
    sent.begin_call()
    sent.send("/worker.js", "Script", initiator="other")
    assert (sent.awaited, sent.requests.unanswered) == (["/worker.js"], 0)


def test_a_redirect_of_an_earlier_request_is_not_awaited(sent: SentRequests) -> None:
    sent.begin_call()
    book = sent.send("/book")
    sent.requests.begin_step(is_acting=True)
    event = {"requestId": book, "type": "Fetch", "request": {"url": f"{HOST}/done"}, "initiator": {"type": "script"}}
    sent.session.receive({"method": "Network.requestWillBeSent", "params": event})
    assert (sent.awaited, sent.requests.unanswered) == ([], 1)


def test_a_new_document_has_no_requests_of_earlier_steps(sent: SentRequests) -> None:
    sent.begin_call()
    sent.send("/book")
    sent.requests.reset()
    sent.send("/items")
    assert (sent.awaited, sent.requests.unanswered) == (["/items"], 1)
    sent.begin_call()
    sent.begin_call()
    assert sent.requests.unanswered == 0


def test_the_answer_to_a_message_over_a_web_socket_is_awaited(sent: SentRequests) -> None:
    sent.begin_call(is_acting=False)
    sent.push("webSocketFrameSent")
    assert not sent.requests.awaits_push
    sent.begin_call()
    sent.push("webSocketFrameSent")
    assert sent.requests.awaits_push
    sent.push("webSocketFrameReceived")
    assert not sent.requests.awaits_push


@pytest.mark.parametrize(("kind", "push"), [("EventSource", "eventSourceMessageReceived"), ("Fetch", "")])
def test_the_answer_to_a_request_may_be_pushed(sent: SentRequests, kind: str, push: str) -> None:
    sent.begin_call(is_acting=False)
    source = sent.send("/source", kind)
    sent.requests.begin_step(is_acting=True)
    sent.answer(sent.send("/send"))
    assert sent.requests.awaits_push
    if push:
        sent.push(push)
    else:
        sent.answer(source)
    assert not sent.requests.awaits_push

"""Processes of pytest-xdist get neighbors together, and report all that is not merely passed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests import scheduling


class Node:
    """Process that finishes its tests only when it is asked to."""

    shutting_down = False

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.messages: list[list[int]] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        self.messages.append(indices)

    def shutdown(self) -> None:
        self.shutting_down = True


def test_every_test_runs_once_and_groups_stay_together(pytestconfig: pytest.Config) -> None:
    config: Any = SimpleNamespace(
        option=SimpleNamespace(loadscopereorder=True, maxprocesses=None, numprocesses=2),
        getvalue=lambda name: ["popen", "popen"],
        hook=pytestconfig.hook,
    )
    scheduler = scheduling.GroupScheduling(config)
    tests = [f"a.py::test_{number}@a.py" for number in range(50)] + [f"b.py::test_{number}" for number in range(2_000)]
    nodes: list[Any] = [Node("gw0"), Node("gw1")]
    for node in nodes:
        scheduler.add_node(node)
        scheduler.add_node_collection(node, tests)
    scheduler.schedule()
    done: list[int] = []
    while any(node.messages for node in nodes):
        for node in nodes:
            for index in node.messages.pop(0) if node.messages else ():
                done.append(index)
                scheduler.mark_test_complete(node, index)
    assert sorted(done) == list(range(2_050))
    assert done[:50] == list(range(50)) and scheduler.tests_finished and all(node.shutting_down for node in nodes)


def scheduler_of_one_process(pytestconfig: pytest.Config) -> scheduling.GroupScheduling:
    config: Any = SimpleNamespace(
        option=SimpleNamespace(loadscopereorder=True, maxprocesses=None, numprocesses=1),
        getvalue=lambda name: ["popen"],
        hook=pytestconfig.hook,
    )
    return scheduling.GroupScheduling(config)


def test_a_test_that_ends_its_process_does_not_run_again(pytestconfig: pytest.Config) -> None:
    scheduler = scheduler_of_one_process(pytestconfig)
    crashing, node = cast(Any, Node("gw0")), cast(Any, Node("gw1"))
    tests = [f"b.py::test_{number}" for number in range(100)]
    scheduler.add_node(crashing)
    scheduler.add_node_collection(crashing, tests)
    scheduler.schedule()
    scheduler.mark_test_complete(crashing, 0)
    assert scheduler.remove_node(crashing) == "b.py::test_1"
    scheduler.add_node(node)
    scheduler.add_node_collection(node, tests)
    scheduler.schedule()
    done = []
    while node.messages:
        for index in node.messages.pop(0):
            done.append(index)
            scheduler.mark_test_complete(node, index)
    assert sorted(done) == list(range(2, 100))
    assert scheduler.remove_node(node) is None
    assert scheduler.remove_node(cast(Any, Node("gw2"))) is None


def test_messages_hold_several_tests_and_the_last_ones_few(pytestconfig: pytest.Config) -> None:
    scheduler = scheduler_of_one_process(pytestconfig)
    node: Any = Node("gw0")
    scheduler.add_node(node)
    scheduler.add_node_collection(node, [f"b.py::test_{number}" for number in range(2_000)])
    scheduler.schedule()
    sizes = []
    while node.messages:
        message = node.messages.pop(0)
        sizes.append(len(message))
        for index in message:
            scheduler.mark_test_complete(node, index)
    assert sizes[0] == 12 and set(sizes[-20:]) == {1}


@pytest.mark.parametrize(
    ("report", "is_sent"),
    [
        ({"when": "setup"}, False),
        ({"when": "teardown"}, False),
        ({"when": "call"}, True),
        ({"when": "setup", "passed": False}, True),
        ({"when": "teardown", "passed": False}, True),
        ({"when": "teardown", "sections": [("Captured stdout", "x")]}, True),
        ({"when": "setup", "duration": 2.0}, True),
    ],
)
def test_what_is_merely_passed_is_not_reported(
    monkeypatch: pytest.MonkeyPatch, report: dict[str, object], is_sent: bool
) -> None:
    made = SimpleNamespace(**{"passed": True, "sections": [], "duration": 0.01, **report})
    sent: list[object] = []
    hook = SimpleNamespace(
        pytest_runtest_logreport=lambda report: sent.append(report), pytest_runtest_logfinish=lambda **_: None
    )
    item: Any = SimpleNamespace(
        config=SimpleNamespace(get_verbosity=lambda: 0), ihook=hook, nodeid="a.py::test_b", location=("a.py", 1, "b")
    )
    monkeypatch.setattr(scheduling, "runtestprotocol", lambda *_, **__: [made])
    scheduling.run_with_few_messages(item, None)
    assert sent == ([made] if is_sent else [])

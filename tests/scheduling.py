"""Scheduler of pytest-xdist for thousands of tests."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from _pytest.runner import runtestprotocol
from xdist.scheduler import LoadGroupScheduling
from xdist.workermanage import WorkerController

__all__ = ["GroupScheduling", "run_with_few_messages"]

_MOST_TESTS = 12
"""Tests in a message, after which no group is added. They are neighbors, which use the same modules and servers."""

_LEAST_ROUNDS = 40
"""Messages that are left for each process before it gets fewer groups at once, so that all end at the same time."""

_SLOW_S = 0.1
"""Seconds. `--durations` shows a setup or teardown that takes longer."""


class GroupScheduling(LoadGroupScheduling):  # type: ignore[misc]
    """Scheduler of `--dist loadgroup` whose work per test does not grow with the number of tests.

    The base class counts the tests of all groups that a process ever got, after each test: 5,000 groups in each
    of two processes cost 15 s of CPU. It sends each group alone, and searches its tests in a list of all tests.
    """

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        """Add the tests of a process, and remember their indexes."""
        super().add_node_collection(node, collection)
        self._indexes = {identifier: index for index, identifier in enumerate(collection)}

    def remove_node(self, node: WorkerController) -> str | None:
        """Return the test that ended its process, if one did, and run the others of this process elsewhere.

        The base class runs the test again until each process ended, and fails for a process that never got a test.
        """
        groups = self.assigned_work.pop(node, {})
        waiting: list[tuple[dict[str, bool], str]]
        waiting = [(tests, name) for tests in groups.values() for name, is_complete in tests.items() if not is_complete]
        if not waiting:
            return None
        tests, crashed = waiting[0]
        tests[crashed] = True
        self.workqueue.update({group: tests for group, tests in groups.items() if not all(tests.values())})
        for other in self.nodes:
            self._reschedule(other)
        return crashed

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Mark the test as complete, and forget its group if all tests of the group are."""
        identifier = self.registered_collections[node][item_index]
        group = self._split_scope(identifier)
        tests = self.assigned_work[node][group]
        tests[identifier] = True
        if all(tests.values()):
            del self.assigned_work[node][group]
        self._reschedule(node)

    def _assign_work_unit(self, node: WorkerController) -> None:
        """Send several groups, and in the end one, to a process."""
        most = min(len(self.workqueue) // (len(self.nodes) * _LEAST_ROUNDS), _MOST_TESTS)
        identifiers: list[str] = []
        while self.workqueue and (not identifiers or len(identifiers) < most):
            group, tests = self.workqueue.popitem(last=False)
            self.assigned_work.setdefault(node, {})[group] = tests
            identifiers += [identifier for identifier, is_complete in tests.items() if not is_complete]
        node.send_runtest_some([self._indexes[identifier] for identifier in identifiers])


def run_with_few_messages(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Run a test in a process of pytest-xdist, and report what failed, took long or wrote output, and the test itself.

    Six messages per test, two of them without content, cost more CPU than most tests.
    """
    if item.config.get_verbosity() > 0:
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.sections or report.duration > _SLOW_S:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

"""Scheduler of pytest-xdist for thousands of tests."""

from __future__ import annotations

from xdist.scheduler import LoadGroupScheduling
from xdist.workermanage import WorkerController

__all__ = ["GroupScheduling"]


class GroupScheduling(LoadGroupScheduling):
    """Scheduler of `--dist loadgroup` whose work per test does not grow with the number of finished tests.

    The base class counts the tests of all groups that a process ever got, after each test: 5,000 groups in each
    of two processes cost 15 s of CPU.
    """

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Mark the test as complete, and forget its group if all tests of the group are."""
        identifier = self.registered_collections[node][item_index]
        group = self._split_scope(identifier)
        tests = self.assigned_work[node][group]
        tests[identifier] = True
        if all(tests.values()):
            del self.assigned_work[node][group]
        self._reschedule(node)

"""The order of hosts and pages in a job, with a fake clock."""

from __future__ import annotations

import math
from collections import Counter

from scraper.bulk.model import JobPage, JobRate
from scraper.bulk.schedule import Schedule


def pages(host: str, count: int, first: int = 1) -> list[JobPage]:
    return [JobPage(first + number, f"http://{host}/{number}", host) for number in range(count)]


def schedule_of(rate: JobRate, hosts: dict[str, int]) -> Schedule:
    schedule = Schedule(rate)
    first = 1
    for host, count in hosts.items():
        schedule.add_host(host, count)
        schedule.add_pages(host, pages(host, count, first), now=0.0)
        first += count
    return schedule


def test_the_host_with_most_pages_left_goes_first() -> None:
    schedule = schedule_of(JobRate(per_host=1), {"small": 1, "large": 3, "middle": 2})
    hosts = [page.host for _ in range(3) if (page := schedule.take_page(0.0)) is not None]
    assert hosts == ["large", "middle", "small"]


def test_the_concurrency_of_a_host_is_limited() -> None:
    schedule = schedule_of(JobRate(per_host=2), {"one": 5})
    taken = [schedule.take_page(0.0) for _ in range(5)]
    assert [page is not None for page in taken] == [True, True, False, False, False]
    assert taken[0] is not None
    schedule.finish_page(taken[0], requested_at=0.0, now=0.1)
    assert schedule.take_page(0.1) is not None
    assert schedule.take_page(0.1) is None


def test_the_gap_starts_when_the_last_request_has_arrived() -> None:
    schedule = schedule_of(JobRate(per_host=1, gap_s=1.0), {"one": 2})
    first = schedule.take_page(0.0)
    assert first is not None
    schedule.finish_page(first, requested_at=0.4, now=0.6)
    assert schedule.take_page(1.3) is None
    assert math.isclose(schedule.wait_s(1.3), 0.1)
    assert schedule.take_page(1.4) is not None


def test_a_host_with_a_gap_waits_for_the_arrival_time_of_its_last_request() -> None:
    schedule = schedule_of(JobRate(per_host=2, gap_s=1.0), {"one": 3})
    first = schedule.take_page(0.0)
    assert first is not None
    assert schedule.take_page(1.5) is None
    schedule.finish_page(first, requested_at=1.4, now=1.6)
    assert math.isclose(schedule.wait_s(1.6), 0.8)
    second = schedule.take_page(2.4)
    assert second is not None and schedule.take_page(2.4) is None


def test_a_retried_page_observes_the_gap() -> None:
    schedule = schedule_of(JobRate(per_host=2, gap_s=60.0), {"one": 2})
    first = schedule.take_page(0.0)
    assert first is not None
    schedule.retry_page(first, requested_at=0.5, not_before=5.0, now=0.6)
    assert schedule.take_page(60.4) is None
    assert schedule.take_page(60.5) is not None


def test_a_page_without_a_request_causes_no_gap() -> None:
    schedule = schedule_of(JobRate(per_host=1, gap_s=60.0), {"one": 2})
    first = schedule.take_page(0.0)
    assert first is not None
    schedule.finish_page(first, requested_at=None, now=0.1)
    assert schedule.take_page(0.1) is not None


def test_a_retried_page_comes_last_and_its_host_pauses() -> None:
    schedule = schedule_of(JobRate(per_host=1), {"one": 2})
    first = schedule.take_page(0.0)
    assert first is not None
    schedule.retry_page(first, requested_at=0.0, not_before=5.0, now=0.0)
    assert schedule.take_page(4.9) is None
    second = schedule.take_page(5.0)
    assert second is not None and second.number != first.number
    schedule.finish_page(second, requested_at=5.0, now=5.0)
    assert schedule.take_page(5.0) == first
    schedule.finish_page(first, requested_at=5.0, now=5.0)
    assert not schedule


def test_a_paused_host_does_not_delay_others() -> None:
    schedule = schedule_of(JobRate(per_host=1, gap_s=10.0), {"large": 50, "small": 3})
    now, seen = 0.0, Counter[str]()
    while schedule and now < 1_000:
        while (page := schedule.take_page(now)) is not None:
            seen[page.host] += 1
            schedule.finish_page(page, requested_at=now, now=now)
        if schedule:
            now += min(schedule.wait_s(now), 1_000)
    assert seen == {"large": 50, "small": 3}
    assert math.isclose(now, 490.0)


def test_pages_of_a_host_are_requested_before_it_runs_out() -> None:
    schedule = Schedule(JobRate(per_host=1))
    schedule.add_host("one", 40)
    assert schedule.pop_hosts_needing_pages() == ["one"]
    schedule.add_pages("one", pages("one", 20), now=0.0)
    assert schedule.pop_hosts_needing_pages() == []
    for _ in range(5):
        page = schedule.take_page(0.0)
        assert page is not None
        schedule.finish_page(page, requested_at=0.0, now=0.0)
    assert schedule.pop_hosts_needing_pages() == ["one"]


def test_a_host_visited_by_another_process_pauses_first() -> None:
    schedule = Schedule(JobRate(per_host=1, gap_s=2.0))
    schedule.add_host("one", 1, free_at=2.0)
    schedule.add_pages("one", pages("one", 1), now=0.0)
    assert schedule.take_page(1.9) is None
    assert schedule.take_page(2.0) is not None


def test_a_host_of_unknown_gap_gets_one_request_at_first() -> None:
    schedule = Schedule(JobRate(per_host=2), respects_robots=True)
    schedule.add_host("one", 4)
    schedule.add_pages("one", pages("one", 4), now=0.0)
    first = schedule.take_page(0.0)
    assert first is not None and schedule.take_page(0.0) is None
    schedule.finish_page(first, requested_at=0.5, now=1.0, gap_s=0.0)
    both = [schedule.take_page(1.0), schedule.take_page(1.0)]
    assert None not in both


def test_the_gap_of_a_host_is_observed() -> None:
    schedule = Schedule(JobRate(per_host=2, gap_s=1.0), respects_robots=True)
    schedule.add_host("one", 4)
    schedule.add_pages("one", pages("one", 4), now=0.0)
    first = schedule.take_page(0.0)
    assert first is not None
    schedule.retry_page(first, requested_at=0.5, not_before=0.6, now=0.6, gap_s=30.0)
    assert math.isclose(schedule.wait_s(0.6), 29.9)
    assert schedule.minimum_s() == 120.0
    second = schedule.take_page(30.5)
    assert second is not None and schedule.take_page(40.0) is None
    # Another site on the same host requires a shorter pause.
    schedule.finish_page(second, requested_at=31.0, now=40.0, gap_s=0.0)
    assert schedule.take_page(60.9) is None and schedule.take_page(61.0) is not None


def skewed(hosts: dict[str, int]) -> Schedule:
    left = sum(hosts.values())
    schedule = Schedule(JobRate(per_host=2), count_left=lambda: left)
    for host, count in hosts.items():
        schedule.add_host(host, count)
        schedule.add_pages(host, pages(host, count), now=0.0)
    return schedule


def begun(schedule: Schedule, now: float = 0.0) -> Counter[str]:
    found = Counter[str]()
    while (page := schedule.take_page(now)) is not None:
        found["large" if page.host == "large" else "others"] += 1
    return found


def test_other_hosts_get_enough_slots_to_end_with_the_largest() -> None:
    small = {f"host{number}": 10 for number in range(20)}
    # The others get slots in proportion to their pages, and half as many more.
    assert begun(skewed({"large": 200, **small})) == {"large": 2, "others": 3}
    assert begun(skewed({"large": 10_000, **small})) == {"large": 2, "others": 1}
    assert begun(skewed({"large": 20, **small})) == {"large": 2, "others": 30}


def test_other_hosts_get_all_slots_while_the_largest_pauses() -> None:
    schedule = skewed({"large": 200, **{f"host{number}": 10 for number in range(20)}})
    page = schedule.take_page(0.0)
    assert page is not None and page.host == "large"
    schedule.retry_page(page, requested_at=0.0, not_before=30.0, now=0.0)
    assert begun(schedule) == {"others": 40}


def test_every_page_starts_with_few_slots() -> None:
    schedule = skewed({"large": 40, **{f"host{number}": 1 for number in range(30)}})
    under_way: list[JobPage] = []
    ended = 0
    while schedule:
        while (page := schedule.take_page(0.0)) is not None:
            under_way.append(page)
        assert under_way
        schedule.finish_page(under_way.pop(0), requested_at=0.0, now=0.0)
        ended += 1
    assert ended == 70


def test_a_page_is_batched_if_others_of_its_host_are_read_too() -> None:
    schedule = schedule_of(JobRate(per_host=2), {"one": 3, "two": 1})
    taken = [page for _ in range(3) if (page := schedule.take_page(0.0)) is not None]
    assert [(page.host, page.is_batched) for page in taken] == [("one", True), ("one", True), ("two", False)]
    apart = schedule_of(JobRate(per_host=2, gap_s=5.0), {"one": 2}).take_page(0.0)
    assert apart is not None and not apart.is_batched

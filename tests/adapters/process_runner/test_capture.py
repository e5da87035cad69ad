"""What is kept of too much output: a head and a tail, in whole lines where possible."""

from itertools import count

import pytest

from kron.adapters.process_runner.capture import Capture, Segment

Streams = dict[str, bytes]


class Arriving:
    """Streams that grow, with a capture of them."""

    def __init__(self, limit: int) -> None:
        self.capture = Capture(limit)
        self.streams: Streams = {"stdout": b"", "stderr": b""}
        self._times = count(1)

    def write(self, data: bytes, stream: str = "stdout") -> None:
        self.capture.arrived(Segment(next(self._times), stream, len(self.streams[stream]), len(data)))
        self.streams[stream] += data

    def trim(self, slack: int = 0) -> list[Segment]:
        return self.capture.trim(self.read, slack=slack)

    def read(self, stream: str, offset: int, length: int) -> bytes:
        return self.streams[stream][offset : offset + length]

    def kept(self) -> tuple[bytes, bytes]:
        head, tail = (
            b"".join(self.read(*segment[1:]) for segment in part) for part in (self.capture.head, self.capture.tail)
        )
        return head, tail


def test_what_fits_is_kept_as_it_is() -> None:
    output = Arriving(limit=10)
    output.write(b"0123456789")

    assert output.trim() == []
    assert output.kept() == (b"", b"0123456789")


def test_half_is_kept_of_the_head_and_half_of_the_tail() -> None:
    output = Arriving(limit=12)
    output.write(b"aa\nbb\ncc\ndd\nee\nff\n")

    output.trim()

    assert output.kept() == (b"aa\nbb\n", b"ee\nff\n")
    assert output.capture.dropped == {"stdout": 6, "stderr": 0}


def test_lines_stay_whole_and_the_room_that_the_head_leaves_is_the_tails() -> None:
    output = Arriving(limit=14)  # half of it ends inside a line
    output.write(b"aaaaa\nbbbbb\nccccc\nddddd\neeeee\n")

    output.trim()

    assert output.kept() == (b"aaaaa\n", b"eeeee\n")


def test_a_line_longer_than_the_limit_is_cut() -> None:
    output = Arriving(limit=10)
    output.write(b"x" * 100)

    output.trim()

    assert output.kept() == (b"xxxxx", b"xxxxx")


def test_the_tail_moves_on_and_the_head_stays() -> None:
    output = Arriving(limit=12)
    for number in range(10, 100):
        output.write(b"%d\n" % number)
        output.trim()

    assert output.kept() == (b"10\n11\n", b"98\n99\n")
    assert output.capture.dropped["stdout"] == 86 * 3


def test_within_the_slack_nothing_is_done() -> None:
    output = Arriving(limit=12)
    output.write(b"aa\n" * 6)

    assert output.trim(slack=6) == []
    assert output.trim(slack=5) != []


def test_both_streams_share_the_limit_in_order_of_arrival() -> None:
    output = Arriving(limit=8)
    for number in range(10, 20):
        output.write(b"%d\n" % number, "stderr" if number % 2 else "stdout")

    dropped = output.trim()

    assert output.kept() == (b"10\n", b"19\n")
    assert {segment.stream for segment in dropped} == {"stdout", "stderr"}
    assert output.capture.dropped == {"stdout": 12, "stderr": 12}


def test_what_is_dropped_and_what_is_kept_is_all_there_was() -> None:
    output = Arriving(limit=100)
    dropped = 0
    for number in range(500):
        output.write(b"line %d\n" % number, "stderr" if number % 3 else "stdout")
        dropped += sum(segment.length for segment in output.trim(slack=20))

    kept = sum(map(len, output.kept()))
    assert kept == output.capture.size <= 120
    assert kept + dropped == sum(map(len, output.streams.values()))


def test_a_limit_of_zero_keeps_nothing() -> None:
    output = Arriving(limit=0)
    output.write(b"aa\n")

    output.trim()

    assert output.kept() == (b"", b"")
    assert output.capture.dropped["stdout"] == 3


def test_a_stream_that_its_own_process_cut_off_counts_as_dropped() -> None:
    output = Arriving(limit=100)
    output.write(b"aaaa\n")
    output.write(b"bbbb\n")

    output.capture.lost("stdout")
    output.write(b"cccc\n")

    assert output.capture.size == 5
    assert output.capture.dropped["stdout"] == 10


@pytest.mark.parametrize("alternating", [False, True], ids=["one stream", "two in turn"])
def test_an_index_never_has_more_than_some_thousand_segments(*, alternating: bool) -> None:
    output = Arriving(limit=1 << 20)
    for number in range(40_000):
        output.write(b"x", "stderr" if alternating and number % 2 else "stdout")

    capture = output.capture
    assert len(capture.tail) < 20_000
    assert capture.size == 40_000 == sum(segment.length for segment in capture.tail)
    assert [segment.time for segment in capture.tail] == sorted(segment.time for segment in capture.tail)

"""Tests of the listener: clients that behave badly, over a real socket."""

import socket
from contextlib import suppress

from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from kron.web.connections import trust_client
from tests.web.served import Place, read_reply, served

ASK = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


def test_a_visitor_who_says_nothing_is_sent_away() -> None:
    with served(PlainTextResponse("ok"), patience=0.05) as place, place.connect() as connection:
        assert _is_closed(connection)


def test_a_visitor_who_takes_for_ever_to_ask_is_sent_away() -> None:
    with served(PlainTextResponse("ok"), patience=0.05) as place, place.connect() as connection:
        connection.sendall(ASK)
        assert _is_closed(connection)


def test_a_visitor_who_asks_again_and_then_falls_silent_is_sent_away() -> None:
    with served(PlainTextResponse("ok"), patience=0.05) as place, place.connect() as connection:
        connection.sendall(ASK + b"\r\n")

        assert read_reply(connection).status == 200


def test_of_too_many_clients_the_longest_idle_one_is_disconnected() -> None:
    with served(PlainTextResponse("ok"), most=2) as place:
        first, second = place.connect(), place.connect()

        assert place.ask("/").status == 200
        assert _is_closed(first)
        second.sendall(ASK + b"Connection: close\r\n\r\n")
        assert read_reply(second).status == 200
        for connection in (first, second):
            connection.close()


def test_a_request_that_is_no_request_or_far_too_long_is_refused() -> None:
    with served(PlainTextResponse("ok")) as place:
        with suppress(ConnectionError):  # the server may have closed the connection
            assert place.ask("/", f"X: {'x' * 1_000_000}").status == 400
        with place.connect() as connection:
            connection.sendall(b"\x16\x03\x01 is no request\r\n\r\n")
            assert read_reply(connection).status == 400
        assert place.ask("/").status == 200


def test_a_head_of_16_kib_or_100_lines_is_taken_and_a_longer_one_is_not() -> None:
    with served(PlainTextResponse("ok")) as place:
        used = len("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: \r")
        found = [_status_of(place, f"X: {'x' * (16 * 1024 - used + more)}") for more in (0, 1)]
        found += [_status_of(place, *["a: b"] * (98 + more)) for more in (0, 1)]

    assert found == [200, 400, 200, 400]


def test_a_long_head_behind_another_request_is_refused_as_well() -> None:
    with served(PlainTextResponse("ok")) as place, place.connect() as connection:
        connection.sendall(ASK + b"\r\n" + ASK + b"X: %s\r\n\r\n" % (b"x" * 17_000))
        data = b""
        while part := connection.recv(65536):
            data += part

    assert data.count(b"HTTP/1.1 ") == 2
    assert b"HTTP/1.1 400 " in data


def test_a_body_without_a_length_is_refused() -> None:
    with served(PlainTextResponse("ok")) as place:
        assert place.ask("/", "Transfer-Encoding: chunked", method="POST").status == 400
        assert place.ask("/", "Content-Length: 0", method="POST").status == 200


def test_a_long_answer_arrives_whole() -> None:
    text = "".join(map(str, range(100_000)))
    with served(PlainTextResponse(text)) as place:
        assert place.ask("/").body == text
        assert place.ask("/", method="HEAD").body == ""


def test_clients_with_the_token_have_places_that_others_do_not_have() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/token":
            trust_client(scope)
        await PlainTextResponse("ok")(scope, receive, send)

    with served(app, most=4, for_token=2) as place:
        known = place.connect()
        known.sendall(ASK.replace(b"/ ", b"/token ") + b"\r\n")
        assert known.recv(65536)
        others = [place.connect() for _ in range(20)]

        assert place.ask("/").status == 200
        known.sendall(ASK + b"Connection: close\r\n\r\n")
        assert read_reply(known).status == 200
        for connection in (known, *others):
            connection.close()


def test_an_unread_body_does_not_keep_the_connection() -> None:
    with served(PlainTextResponse("ok"), patience=0.05) as place, place.connect() as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\nx")

        assert read_reply(connection).status == 200


def _status_of(place: Place, *headers: str) -> int:
    return place.ask("/", *headers).status


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True

"""HTTP as uvicorn speaks it, with an end to the patience for clients that send or take too slowly."""

from __future__ import annotations

from typing import Any, ClassVar

import h11
from h11._connection import DEFAULT_MAX_INCOMPLETE_EVENT_SIZE
from uvicorn.protocols.http.h11_impl import H11Protocol

from .requests import Limits

_PARTS = 1000  # of a body, whatever their size; more only if they are not small
_PART = 64  # bytes that each of them must have, on average
_TO_TAKE = 120.0  # seconds until a client has taken an answer


def guarded(limits: Limits, most: int) -> type[Guarded]:
    """The protocol for at most so many connections at once."""
    return type("Guarded", (Guarded,), {"limits": limits, "most": most, "idle": {}})


class Guarded(H11Protocol):
    """One connection.

    The headers of a request must arrive within `limits.header_seconds`. Where there are too many connections, the one
    that has been without a request for the longest time makes room; where all have one, the new one is refused.
    """

    limits: ClassVar[Limits]
    most: ClassVar[int]
    idle: ClassVar[dict[Guarded, None]]  # connections without a request, those that have waited longest first

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = _Parts(h11.SERVER, DEFAULT_MAX_INCOMPLETE_EVENT_SIZE)
        self._until_request = self._until_taken = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.most:
            if not self.idle:
                self._refuse("503 Service Unavailable", "too many connections: ask later")
                return
            next(iter(self.idle))._drop()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self.idle.pop(self, None)
        self._until_request = _cancelled(self._until_request)
        self._until_taken = _cancelled(self._until_taken)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def handle_events(self) -> None:
        try:
            super().handle_events()
        except h11.LocalProtocolError:  # what is wrong comes after the answer: nothing is left to say
            self._drop()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        if self.transport.get_write_buffer_size():
            self._drop()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._until_taken = self.loop.call_later(_TO_TAKE, self._drop)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._until_taken = _cancelled(self._until_taken)

    def shutdown(self) -> None:
        """At the end of the server, requests that have not arrived are not waited for."""
        if self.conn.their_state is h11.SEND_BODY:
            self.transport.close()
        else:
            super().shutdown()

    def _watch(self) -> None:
        """Counts the time of those that send no whole headers, or go on sending after the answer."""
        if self.transport.is_closing():
            return
        waiting = self.conn.their_state is h11.IDLE
        if waiting:
            self.idle.setdefault(self)
        else:
            self.idle.pop(self, None)
        answered = self.cycle is not None and self.cycle.response_complete
        if waiting or (answered and self.conn.their_state is h11.SEND_BODY):
            if self._until_request is None:
                self._until_request = self.loop.call_later(self.limits.header_seconds, self._late)
        else:
            self._until_request = _cancelled(self._until_request)

    def _late(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            why = f"the headers did not arrive within {self.limits.header_seconds:g} s"
            self._refuse("408 Request Timeout", why)
        else:
            self._drop()

    def _refuse(self, status: str, why: str) -> None:
        body = f'{{"error":"{why}"}}'
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.transport.write(f"{head}Connection: close\r\n\r\n{body}".encode())
        self.transport.close()

    def _drop(self) -> None:
        self.idle.pop(self, None)
        self.transport.abort()


class _Parts(h11.Connection):
    """A connection whose bodies must not come in very many small parts: each costs time, however small."""

    parts = size = 0

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            self.parts = self.size = 0
        elif isinstance(event, h11.Data):
            self.parts += 1
            self.size += len(event.data)
            if self.parts > _PARTS + self.size // _PART:
                raise h11.RemoteProtocolError("the body comes in too many small parts")
        return event


def _cancelled(timer: Any) -> Any:
    """What stands in place of a timer that is stopped."""
    if timer is not None:
        timer.cancel()
    return None

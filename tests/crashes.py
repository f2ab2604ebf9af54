"""Processes that stop, and system calls that fail, at every step of writing files."""

import os
import sqlite3

STEPS = ("open", "write", "fsync", "replace", "unlink")


class Steps:
    """Counts calls of the functions of `os` that change files; the one with number `stop` ends the process or fails.

    A write that ends the process has written half of its bytes. Statements of SQLite are steps that end the process,
    too; inside of them, it is SQLite that writes.
    """

    def __init__(self, monkeypatch, stop=None, *, fail=False):
        self.count, self.stop, self.fail = 0, stop, fail
        for name in STEPS:
            monkeypatch.setattr(os, name, self._counted(name, getattr(os, name)))
        if not fail:
            monkeypatch.setattr(sqlite3, "connect", self._traced(sqlite3.connect))

    def _traced(self, connect):
        def traced(*args, **options):
            connection = connect(*args, **options)
            connection.set_trace_callback(self._statement)
            return connection

        return traced

    def _statement(self, sql):
        if not sql.startswith(("PRAGMA", "SELECT")):
            self.count += 1
            if self.count == self.stop:
                os._exit(9)

    def _counted(self, name, call):
        def counted(*args, **options):
            self.count += 1
            if self.count == self.stop:
                if self.fail:
                    raise OSError(28, "No space left on device")
                if name == "write":
                    call(args[0], args[1][: len(args[1]) // 2])
                os._exit(9)
            return call(*args, **options)

        return counted


def in_child(work):
    """Runs a function in a copy of this process; the exit status, 0 when it came to its end."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

"""A server on a port of its own, for tests with real requests."""

import socket
import threading
import time

import uvicorn


class Running:
    """A server on a port of its own, in a thread."""

    def __init__(self, app, **options):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        options = {"log_level": "critical", **options}
        config = uvicorn.Config(app, host="127.0.0.1", port=self.port, **options)
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        self.address = f"http://127.0.0.1:{self.port}"

    def stop(self):
        self.server.should_exit = True
        self.thread.join(10)

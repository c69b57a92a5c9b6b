"""Ports of this machine."""
import socket, time


def free_port(more=()):
    """A port that is free, as those are that lie the numbers of `more` above it."""
    while True:
        with socket.socket() as first:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                for number in more:
                    with socket.socket() as other:
                        other.bind(("127.0.0.1", port + number))
                return port
            except (OSError, OverflowError):
                pass


def wait_for(port):
    for _ in range(400):
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"nothing listens on {port}")

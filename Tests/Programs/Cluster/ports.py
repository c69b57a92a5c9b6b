"""Ports of this machine."""
import random, socket, time


def free_port():
    """A port that is free now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def free_pairs(count, distance):
    """Ports that are free, as are those `distance` above them. All lie below the ports that systems give to clients and to servers that name
    none, so nothing takes them before their server listens."""
    found = []
    for port in random.sample(range(12_000, 22_000), 10_000):
        try:
            for number in [port, port + distance]:
                with socket.socket() as one:
                    one.bind(("127.0.0.1", number))
            found.append(port)
        except OSError:
            pass
        if len(found) == count:
            return found
    raise RuntimeError("no port is free")


def wait_for(port):
    for _ in range(400):
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"nothing listens on {port}")

"""Replace this process by Chromium after it has passed Playwright's pipe to the server.

Uses only the standard library. Run as `python -IS launcher.py SOCKET CHROMIUM SWITCHES...` in Chromium's place: file
descriptors 3 and 4 are then Playwright's ends of `--remote-debugging-pipe`. They are sent to the server through
SOCKET, which returns two others, and Chromium replaces this process.
"""

import os
import socket
import sys


def main() -> None:
    """Exchange the descriptors and execute Chromium."""
    handshake, chromium = sys.argv[1], sys.argv[2]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.connect(handshake)
        socket.send_fds(server, [b"p"], [3, 4])
        _, received, _, _ = socket.recv_fds(server, 1, 2)
    commands, answers = received
    # dup2 must not overwrite the one before it is moved.
    commands, answers = os.dup(commands), os.dup(answers)
    os.dup2(commands, 3)
    os.dup2(answers, 4)
    for descriptor in {*received, commands, answers} - {3, 4}:
        os.close(descriptor)
    os.execv(chromium, [chromium, *sys.argv[3:]])


main()

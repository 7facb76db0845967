"""Script that runs in Chromium's place: pass Playwright's pipe to the server, then execute Chromium.

Uses only the standard library. Run as `python -IS fd_passing_launcher.py SOCKET CHROMIUM SWITCHES...`: file
descriptors 3 and 4 are then Playwright's ends of `--remote-debugging-pipe`. They are sent to the server through SOCKET.
The server sends two other descriptors back, and Chromium replaces this process with these as 3 and 4.
"""

import os
import socket
import sys


def main() -> None:
    """Exchange the file descriptors with the server and replace this process by Chromium."""
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


if __name__ == "__main__":
    main()

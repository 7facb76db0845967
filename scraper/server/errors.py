"""Errors of a server process; their messages address its operator."""


class ServerStartError(Exception):
    """The server cannot start, or would be unsafe; the message is the next step of the operator."""


class ServicesOpenError(Exception):
    """The services cannot be opened; the message gives the cause for the operator."""

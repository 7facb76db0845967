"""What can go wrong on the way to a page.

    BrowsersError
        Refused             policy said no; never retried, never tried another way
            BadScheme           not http or https
            BlockedAddress      the host is, or resolves to, an address that is not public
            UnsafePort          a port that browsers refuse to speak HTTP on
        Unreachable         the network said no
            NameNotResolved     the host does not exist
            NameLookupTimeout   the name server did not answer
            ConnectionRefused   nobody listens there
            HostUnreachable     no route
            ConnectTimeout      no connection within the limit
            ConnectionClosed    the server closed without an answer
            TlsFailed           certificate or handshake
            TooManyRedirects    a loop, or more hops than the limit
            UpstreamProxyFailed the operator's proxy refused or broke
        DeadlineExceeded    the visit ran out of time with nothing to show
        TooLarge            more bytes than the limit, and nothing usable in them
        PageCrashed         the renderer died
        BrowserGone         the browser or its driver died
        Busy                the queue is full; carries `retry_after_s`
        NoBrowser           no Chromium on this machine, or it does not start

Every error carries the URL, one sentence, the next step, and whether the same call can succeed when it is
made again.
"""

from __future__ import annotations

__all__ = [
    "BadSchemeError",
    "BlockedAddressError",
    "BrowserGoneError",
    "BrowsersError",
    "BusyError",
    "ConnectTimeoutError",
    "ConnectionClosedError",
    "DeadlineExceededError",
    "HostUnreachableError",
    "NameLookupTimeoutError",
    "NameNotResolvedError",
    "NoBrowserError",
    "PageCrashedError",
    "RefusedConnectionError",
    "RefusedError",
    "TlsFailedError",
    "TooLargeError",
    "TooManyRedirectsError",
    "UnreachableError",
    "UnsafePortError",
    "UpstreamProxyError",
]


class BrowsersError(Exception):
    """Root of the tree: `str(error)` is what happened and to which URL, `next_step` what to do about it."""

    retryable: bool = False
    next_step: str = "Try another URL."
    redirected: bool = False
    """Whether the URL's own host had answered, and sent the visit elsewhere."""

    def __init__(self, message: str, *, url: str = "", next_step: str | None = None) -> None:
        super().__init__(message)
        self.url = url
        if next_step is not None:
            self.next_step = next_step


class RefusedError(BrowsersError):
    """Our own policy said no."""


class BadSchemeError(RefusedError):
    """Only http and https are visited."""

    next_step = "Give an absolute http:// or https:// URL."


class BlockedAddressError(RefusedError):
    """The host is not on the public internet."""

    next_step = "Use a public URL. The operator can allow a private network with SEARCH_MCP_ALLOW_NETS."


class UnsafePortError(RefusedError):
    """Browsers do not speak HTTP on this port."""

    next_step = "Use the site's normal web port."


class UnreachableError(BrowsersError):
    """The network said no."""

    next_step = "Check the address, or try again later."


class NameNotResolvedError(UnreachableError):
    """The host name does not exist."""

    next_step = "Check the spelling of the host name."


class NameLookupTimeoutError(UnreachableError):
    """The name server did not answer in time."""

    retryable = True
    next_step = "Try again; if it persists, check this machine's DNS."


class RefusedConnectionError(UnreachableError):
    """Nobody listens at that address and port."""

    retryable = True
    next_step = "Check the port, or try again later: the site may be down."


class HostUnreachableError(UnreachableError):
    """There is no route to the host."""

    retryable = True
    next_step = "Try again later, or check this machine's network."


class ConnectTimeoutError(UnreachableError):
    """No connection within the limit."""

    retryable = True
    next_step = "Try again later: the site may be down or very slow."


class ConnectionClosedError(UnreachableError):
    """The server closed the connection without an answer."""

    retryable = True
    next_step = "Try again; the site may be overloaded or may not speak HTTP on this port."


class TlsFailedError(UnreachableError):
    """The certificate is not valid, or the TLS handshake failed."""

    next_step = "Check the URL; the site's certificate may be wrong, or it may only serve http://."


class TooManyRedirectsError(UnreachableError):
    """A redirect loop, or more hops than the limit."""

    next_step = "Try the address that the site redirects to, or another page of it."


class UpstreamProxyError(UnreachableError):
    """The proxy that the operator configured refused or broke."""

    next_step = "The operator should check SEARCH_MCP_PROXY: host, port, user and password."


class DeadlineExceededError(BrowsersError):
    """Out of time with nothing to show."""

    next_step = "Try again later: the site is very slow, or never ends its answer."


class TooLargeError(BrowsersError):
    """More bytes than the limit, and nothing usable in them."""

    next_step = "Look for a smaller page, or a paged version of this one."


class PageCrashedError(BrowsersError):
    """The page's renderer died, usually from lack of memory."""

    retryable = True
    next_step = 'Try render="http", which reads the page without running its scripts.'


class BrowserGoneError(BrowsersError):
    """The browser died under the visit."""

    retryable = True
    next_step = "Try again: a new browser is being started."


class BusyError(BrowsersError):
    """Every slot is taken and the queue is full."""

    def __init__(self, message: str, *, retry_after_s: float, url: str = "") -> None:
        super().__init__(message, url=url, next_step=f"Try again in {retry_after_s:.0f} s.")
        self.retry_after_s = retry_after_s


class NoBrowserError(BrowsersError):
    """No usable Chromium."""

    next_step = "Run `search-mcp install-browser`, then `search-mcp doctor`."

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


class BrowsersError(Exception):
    """Root of the tree: `str(error)` is what happened and to which URL, `next_step` what to do about it."""

    code: str = "BrowsersError"
    """Stable name of the kind of error, for logs and metrics."""
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

    code = "Refused"


class BadSchemeError(RefusedError):
    """Only http and https are visited."""

    code = "BadScheme"
    next_step = "Give an absolute http:// or https:// URL."


class BlockedAddressError(RefusedError):
    """The host is not on the public internet."""

    code = "BlockedAddress"
    next_step = "Use a public URL. The operator can allow a private network with SEARCH_MCP_ALLOW_NETS."


class UnsafePortError(RefusedError):
    """Browsers do not speak HTTP on this port."""

    code = "UnsafePort"
    next_step = "Use the site's normal web port."


class UnreachableError(BrowsersError):
    """The network said no."""

    code = "Unreachable"
    next_step = "Check the address, or try again later."


class NameNotResolvedError(UnreachableError):
    """The host name does not exist."""

    code = "NameNotResolved"
    next_step = "Check the spelling of the host name."


class NameLookupTimeoutError(UnreachableError):
    """The name server did not answer in time."""

    code = "NameLookupTimeout"
    retryable = True
    next_step = "Try again; if it persists, check this machine's DNS."


class RefusedConnectionError(UnreachableError):
    """Nobody listens at that address and port."""

    code = "ConnectionRefused"
    retryable = True
    next_step = "Check the port, or try again later: the site may be down."


class HostUnreachableError(UnreachableError):
    """There is no route to the host."""

    code = "HostUnreachable"
    retryable = True
    next_step = "Try again later, or check this machine's network."


class ConnectTimeoutError(UnreachableError):
    """No connection within the limit."""

    code = "ConnectTimeout"
    retryable = True
    next_step = "Try again later: the site may be down or very slow."


class ConnectionClosedError(UnreachableError):
    """The server closed the connection without an answer."""

    code = "ConnectionClosed"
    retryable = True
    next_step = "Try again; the site may be overloaded or may not speak HTTP on this port."


class TlsFailedError(UnreachableError):
    """The certificate is not valid, or the TLS handshake failed."""

    code = "TlsFailed"
    next_step = "Check the URL; the site's certificate may be wrong, or it may only serve http://."


class TooManyRedirectsError(UnreachableError):
    """A redirect loop, or more hops than the limit."""

    code = "TooManyRedirects"
    next_step = "Try the address that the site redirects to, or another page of it."


class UpstreamProxyError(UnreachableError):
    """The proxy that the operator configured refused or broke."""

    code = "UpstreamProxyFailed"
    next_step = "The operator should check SEARCH_MCP_PROXY: host, port, user and password."


class DeadlineExceededError(BrowsersError):
    """Out of time with nothing to show."""

    code = "DeadlineExceeded"
    next_step = "Try again later: the site is very slow, or never ends its answer."


class TooLargeError(BrowsersError):
    """More bytes than the limit, and nothing usable in them."""

    code = "TooLarge"
    next_step = "Look for a smaller page, or a paged version of this one."


class PageCrashedError(BrowsersError):
    """The page's renderer died, usually from lack of memory."""

    code = "PageCrashed"
    retryable = True
    next_step = 'Try render="http", which reads the page without running its scripts.'


class BrowserGoneError(BrowsersError):
    """The browser died under the visit."""

    code = "BrowserGone"
    retryable = True
    next_step = "Try again: a new browser is being started."


class BusyError(BrowsersError):
    """Every slot is taken and the queue is full."""

    code = "Busy"

    def __init__(self, message: str, *, retry_after_s: float, url: str = "") -> None:
        super().__init__(message, url=url, next_step=f"Try again in {retry_after_s:.0f} s.")
        self.retry_after_s = retry_after_s


class NoBrowserError(BrowsersError):
    """No usable Chromium."""

    code = "NoBrowser"
    next_step = "Run `search-mcp install-browser`, then `search-mcp doctor`."

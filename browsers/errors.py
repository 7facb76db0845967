"""Errors of a visit.

The direct subclasses of BrowsersError show whether a retry makes sense: after RefusedError it does not, because the
policy of this server refused the visit; after UnreachableError it may, because the network failed. Every error carries
the URL, one sentence, the next step, and whether a retry of the same call can succeed.
"""


class FilterListError(ValueError):
    """A filter list of the operator cannot be used; the message contains the next step."""


class BrowsersError(Exception):
    """Base class of errors of a visit. `str(error)` says what happened, and `next_step` how to continue."""

    code: str = "BrowsersError"
    """Stable name of the error for logs and metrics: that of its class without `Error`, if it has no other."""
    retryable: bool = False
    next_step: str = "Try another URL."
    redirected: bool = False
    """True if the URL's own host answered and redirected the visit."""

    def __init_subclass__(cls) -> None:
        """Set the code of a class."""
        cls.code = vars(cls).get("code") or cls.__name__.removesuffix("Error")

    def __init__(self, message: str, *, url: str = "", next_step: str | None = None) -> None:
        """Set the sentence, the URL and optionally the next step."""
        super().__init__(message)
        self.url = url
        if next_step is not None:
            self.next_step = next_step


class RefusedError(BrowsersError):
    """The policy of this server refused the visit."""


class BadSchemeError(RefusedError):
    """The URL is neither http nor https."""

    next_step = "Give an absolute http:// or https:// URL."


class BlockedAddressError(RefusedError):
    """The host is not on the public internet."""

    next_step = "Use a public URL. The operator can allow a private network with SEARCH_MCP_ALLOW_NETS."


class UnsafePortError(RefusedError):
    """Browsers do not speak HTTP on this port."""

    next_step = "Use the site's normal web port."


class UnreachableError(BrowsersError):
    """The network failed, or the server did not answer."""

    next_step = "Check the address, or try again later."


class NameNotResolvedError(UnreachableError):
    """The host name does not exist."""

    next_step = "Check the spelling of the host name."


class NameLookupTimeoutError(UnreachableError):
    """The name server did not answer in time."""

    retryable = True
    next_step = "Try again; if it persists, check this machine's DNS."


class NoNetworkError(UnreachableError):
    """This machine has no network, or its upstream proxy accepts no connection. Every URL fails."""

    retryable = True
    next_step = "Check the network connection of this machine, then try again."


class RefusedConnectionError(UnreachableError):
    """No server listens on that address and port."""

    code = "ConnectionRefused"
    retryable = True
    next_step = "Check the port, or try again later: the site may be down."


class HostUnreachableError(UnreachableError):
    """There is no route to the host."""

    retryable = True
    next_step = "Try again later, or check this machine's network."


class ConnectTimeoutError(UnreachableError):
    """No connection was made within the limit."""

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
    """The site redirects in a loop, or more often than the limit."""

    next_step = "Try the address that the site redirects to, or another page of it."


class UpstreamProxyError(UnreachableError):
    """The operator's upstream proxy refused the connection or failed."""

    code = "UpstreamProxyFailed"
    next_step = "The operator should check SEARCH_MCP_PROXY: host, port, user and password."


class TargetNotFoundError(BrowsersError):
    """No visible element of the page matches the target of a picture."""

    next_step = "Take a picture of the whole page, or give other words of the element."


class UnknownSessionError(BrowsersError):
    """The caller has no session with this id."""

    next_step = "Leave session out and open the URL again."


class ExpiredLoginError(BrowsersError):
    """The site no longer accepts a login."""

    code = "LoginExpired"

    def __init__(self, name: str, *, url: str = "") -> None:
        """Set the name of the profile."""
        super().__init__(
            f"The login of profile {name} has expired.", url=url, next_step=f"Run: search-mcp login {name} --hosts HOST"
        )


class DeadlineExceededError(BrowsersError):
    """The time limit of the visit passed before there was a result."""

    next_step = "Try again later: the site is very slow, or never ends its answer."


class TooLargeError(BrowsersError):
    """The response is larger than the limit, and the part within the limit is unusable."""

    next_step = "Look for a smaller page, or a paged version of this one."


class PageCrashedError(BrowsersError):
    """The page's renderer crashed, usually from lack of memory."""

    retryable = True
    next_step = 'Try render="http", which reads the page without running its scripts.'


class PageLimitError(PageCrashedError):
    """The page was ended because it exceeded a limit of memory or messages during the render."""

    def __init__(self, message: str, *, limit: str = "memory", url: str = "") -> None:
        """Set the message and the name of the exceeded resource, such as memory."""
        super().__init__(message, url=url)
        self.limit = limit


class BrowserGoneError(BrowsersError):
    """The browser crashed or was closed during the visit, or did not become ready in time."""

    retryable = True
    next_step = "Try again: a new browser is being started."


class BusyError(BrowsersError):
    """All slots are in use and the queue is full or too slow, or another call uses the session."""

    def __init__(self, message: str, *, retry_after_s: float, url: str = "") -> None:
        """Set the message and the seconds until a retry makes sense."""
        super().__init__(message, url=url, next_step=f"Try again in {retry_after_s:.0f} s.")
        self.retry_after_s = retry_after_s


class NoBrowserError(BrowsersError):
    """No Chromium was found, or it does not start."""

    next_step = "Run `search-mcp install-browser`, then `search-mcp doctor`."

"""Answer dialogs, refuse file choosers, and report new windows and downloads, which are refused too."""

from __future__ import annotations

from urllib.parse import urlsplit

from browsers.cdp.session import Event, Session
from browsers.text_quoting import clean_text, quote, truncate

MAX_DIALOGS = 10
"""Dialogs of one step. The script of a page with more dialogs is ended."""
MAX_NOTICES = 12
"""Sentences stored between two reports; further ones are dropped."""
_MAX_URL = 160
_MAX_MESSAGE = 200
_MAX_FILE_NAME = 80
_PAGE_SCHEMES = frozenset({"http", "https", "about", "blob", "data", "file", "javascript"})
_ACCEPTED = frozenset({"alert", "beforeunload"})


class PopupHandler:
    """Handle the dialogs, windows, downloads and file choosers of one page.

    `alert` and `beforeunload` are accepted. `confirm` and `prompt` are dismissed unless `accepts_dialogs` is True.
    """

    def __init__(self) -> None:
        """Start without notices; `watch` handles the events of a page."""
        self.popup_url = ""
        """URL of the last window that the page tried to open in this step."""
        self.accepts_dialogs = False
        """True if the current step accepts `confirm` and `prompt` dialogs."""
        self._notices: list[str] = []
        self._dialogs = 0

    def watch(self, session: Session) -> None:
        """Handle the events of one session: that of the page, or of a frame in another process."""
        session.on("Page.javascriptDialogOpening", lambda event: self._on_dialog(session, event))
        session.on("Page.fileChooserOpened", lambda _: self.notice("refused: the page asked for a file"))
        session.post("Page.setInterceptFileChooserDialog", enabled=True)
        session.on("Page.windowOpen", self._on_window)
        session.on("Page.frameScheduledNavigation", self._on_navigation)
        session.on("Page.downloadWillBegin", self._on_download)

    def begin_step(self) -> None:
        """Reset the state of the last step."""
        self.popup_url = ""
        self.accepts_dialogs = False
        self._dialogs = 0

    def notice(self, sentence: str) -> None:
        """Store a sentence for the next report, unless it is stored already or there are `MAX_NOTICES`."""
        if sentence not in self._notices and len(self._notices) < MAX_NOTICES:
            self._notices.append(sentence)

    def take_notices(self) -> tuple[str, ...]:
        """Return the sentences stored since the last call, and clear them."""
        notices, self._notices = tuple(self._notices), []
        return notices

    def take_window(self) -> str:
        """Return the URL of the new window for loading it in this tab, and drop its notice."""
        url, self.popup_url = self.popup_url, ""
        sentence = _window_notice(url)
        self._notices = [notice for notice in self._notices if notice != sentence]
        return url

    def _on_dialog(self, session: Session, event: Event) -> None:
        kind = str(event["type"])
        accepted = kind in _ACCEPTED or self.accepts_dialogs
        session.post("Page.handleJavaScriptDialog", accept=accepted)
        message = quote(truncate(clean_text(str(event.get("message", ""))), _MAX_MESSAGE))
        self.notice(f"{kind} dialog {message} was {'accepted' if accepted else 'dismissed'}")
        self._dialogs += 1
        if self._dialogs > MAX_DIALOGS:
            session.post("Runtime.terminateExecution")
            self.notice(f"more than {MAX_DIALOGS} dialogs: the page's script was ended")

    def _on_window(self, event: Event) -> None:
        self.popup_url = str(event["url"])
        self.notice(_window_notice(self.popup_url))

    def _on_navigation(self, event: Event) -> None:
        """Report a link for a program of the machine, which `acting.js` does not open."""
        url = str(event["url"])
        if urlsplit(url).scheme not in _PAGE_SCHEMES:
            self.notice(f"refused: a link for another program, {quote(truncate(clean_text(url), _MAX_URL))}")

    def _on_download(self, event: Event) -> None:
        name = quote(truncate(clean_text(str(event.get("suggestedFilename", ""))), _MAX_FILE_NAME))
        self.notice(f"refused: a download of {name}")


def _window_notice(url: str) -> str:
    return f"refused: a new window of {quote(truncate(clean_text(url), _MAX_URL))}"

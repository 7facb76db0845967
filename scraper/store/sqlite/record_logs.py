"""Record logs in a file of SQLite. This module is loaded when the store opens, not at the start of a server."""

from pathlib import Path

from scraper.store.record_logs import RecordLogs
from scraper.store.sqlite.database import DatabaseSchema, DatabaseThreads
from scraper.values.text import read_file

FILE_NAME = "records.sqlite"

_SCHEMA = DatabaseSchema(
    application_id=0x53_4D_43_52,
    version=1,
    create=read_file(__package__, "records.sql"),
    drop="DROP TABLE IF EXISTS records",
)


def open_record_logs(folder: Path) -> RecordLogs:
    """Return the record logs in `records.sqlite` in a folder; the first call opens the file."""
    return RecordLogs(DatabaseThreads(folder / FILE_NAME, _SCHEMA, "records"))

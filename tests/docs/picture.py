"""docs/_static/page.png: the overview of a real krond in a real browser; `make picture` takes it again."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.hosts.krond.krond_process import Krond
from tests.web.browser import chromium
from tests.web.page_client import PageClient

PICTURE = Path(__file__).parents[2] / "docs" / "_static" / "page.png"
LARGEST = 150_000  # bytes: each picture stays in the history of the repository
_SIZE = {"width": 1080, "height": 1240}
# Hourly jobs, so that the page looks the same at any time of day; the identities keep the seconds inside their windows.
_JOBS = """
[krond]
listen = "127.0.0.1:0"
[jobs.hello]
schedule = "@reboot"
command = ["echo", "krond is up"]
[jobs.backup]
identity = "example/backup"
schedule = "0 * * * *"
window = "after,40m"
command = "true"
[jobs.mail-queue]
identity = "example/mail-queue"
schedule = "*/10 * * * *"
window = "after,5m"
command = "true"
[jobs.metrics]
identity = "example/metrics"
schedule = "*/15 * * * *"
window = "after,10m"
command = "true"
[jobs.report]
identity = "example/report"
schedule = "30 * * * *"
timezone = "Europe/Paris"
window = { mode = "around", duration = "20m" }
command = "true"
[jobs.reindex]
identity = "example/reindex"
schedule = "0 2 * * SUN"
window = "after,3h"
command = ["sleep", "1000"]
[jobs.upload]
identity = "example/upload"
schedule = "45 3 * * *"
window = "after,1h"
command = ["sh", "-c", "echo 'connection refused' >&2; exit 3"]
[jobs.archive]
identity = "example/archive"
schedule = "30 4 1 * *"
command = "true"
suspend = true
"""


def take(picture: Path) -> None:
    """Write the picture: one job runs, one has failed twice, one is suspended."""
    with TemporaryDirectory() as folder, chromium() as browser:
        krond = Krond(Path(folder), _JOBS).start()
        try:
            krond.ask("trigger", "reindex")
            for _ in range(2):
                krond.ask("trigger", "upload", "--wait")
            visitor = PageClient(krond)
            page = browser.new_context(color_scheme="light", viewport=_SIZE).new_page()
            page.goto(f"http://{visitor.address}/?token={visitor.token}")
            page.get_by_text("live", exact=True).wait_for()
            page.screenshot(path=picture)
        finally:
            krond.ask("stop", "--now")
            krond.end()


if __name__ == "__main__":
    take(PICTURE)
    sys.stdout.write(f"{PICTURE}: {PICTURE.stat().st_size:,} bytes\n")

"""Make `report.webp`, the picture of the report in the README, from the demo.

    pip install -e '.[browser]'
    python docs/make_screenshot.py

Needs Chromium on the path.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTH, HEIGHT = 1180, 900
"""Size of the picture in pixels."""
QUALITY = 80
"""Quality of the compression, in [0, 100]."""


def main() -> None:
    """Run the demo in a temporary folder and photograph the top of its report."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        subprocess.run([sys.executable, "-m", "arbitre", "demo", "--out", folder, "--quiet"], check=True)  # noqa: S603
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto((Path(folder) / "report.html").as_uri())
        for _ in range(3):
            page.keyboard.press("]")  # to values unlike gold, whose examples show what differs
        options = {"format": "webp", "quality": QUALITY}
        picture = page.context.new_cdp_session(page).send("Page.captureScreenshot", options)["data"]
        browser.close()
    Path(__file__).with_name("report.webp").write_bytes(base64.b64decode(picture))


if __name__ == "__main__":
    main()

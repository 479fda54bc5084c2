"""A headless Chromium, driven as a person would: by pointer and keys, and watched for what a person would not see."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import ActionChains, Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

FLAGS = (
    "--headless=new",
    # Tests may run as root, in a container without a sandbox of its own.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-device-scale-factor=1",
)
# A page of ours does what it is asked at once; this is for a machine that is busy.
PATIENCE_S = 20.0
INNER = ("data:", "blob:", "about:", "chrome:")


class Page:
    """One browser window."""

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver
        # The file that is open, the only one that a page may ask for; empty for a page of a server.
        self._file = ""

    def open(self, page: Path | str, fragment: str = "", *, width: int = 1200, dark: bool = False) -> "Page":
        """Load a file or an address anew at this width, as on a system with this theme."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme]})
        self.driver.get("about:blank")
        # The pointer stays where the last test left it, and might lie on something.
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": 0, "y": 0})
        self.errors()
        self.requests()
        self._file = "" if isinstance(page, str) else page.as_uri()
        self.driver.get((self._file or str(page)) + fragment)
        return self

    def all(self, css: str) -> list[WebElement]:
        return list(self.driver.find_elements(By.CSS_SELECTOR, css))

    def one(self, css: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def texts(self, css: str) -> list[str]:
        """What can be read there, without what is hidden."""
        return [element.text for element in self.all(css)]

    def click(self, css: str) -> None:
        """Scroll there and press the pointer's button."""
        target = self.one(css)
        self.run("arguments[0].scrollIntoView({block: 'center'})", target)
        ActionChains(self.driver).move_to_element(target).click().perform()

    def hover(self, css: str) -> None:
        """Scroll there and put the pointer on it."""
        target = self.one(css)
        self.run("arguments[0].scrollIntoView({block: 'center'})", target)
        ActionChains(self.driver).move_to_element(target).perform()

    def press(self, *keys: str) -> None:
        """Press these keys one after the other, wherever the focus is."""
        ActionChains(self.driver).send_keys(*keys).perform()

    def shift_tab(self) -> None:
        ActionChains(self.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()

    def choose(self, css: str, text: str) -> None:
        """Set a select element to the option of this text, as the browser's own list would."""
        script = (
            "const option = [...arguments[0].options].find((each) => each.text === arguments[1]);"
            "arguments[0].value = option.value;"
            "arguments[0].dispatchEvent(new Event('change', {bubbles: true}));"
        )
        self.run(script, self.one(css), text)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    @property
    def focused(self) -> WebElement:
        return self.driver.switch_to.active_element

    @property
    def fragment(self) -> str:
        return str(self.run("return location.hash"))

    def wait(self, condition: Callable[[], Any], what: str) -> Any:
        """The first true value of the condition; fails with `what` when it does not come."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if value := condition():
                return value
            time.sleep(0.02)
        return pytest.fail(f"waited for {what} in vain")

    def errors(self) -> list[str]:
        """What the console has complained of since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]  # type: ignore[no-untyped-call]

    def requests(self) -> list[str]:
        """Addresses beyond the page's own file that were asked for since the last call."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]  # type: ignore[no-untyped-call]
        asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        asked += [m["params"]["url"] for m in messages if m["method"] == "Network.webSocketCreated"]
        beyond = [address for address in asked if not address.startswith(INNER)]
        return [address for address in beyond if not self._file or address.partition("#")[0] != self._file]

    def axe(self, source: str) -> list[str]:
        """The serious and critical faults that axe-core finds, each with the first element that has it."""
        self.run(source)
        run = "axe.run(document, {resultTypes: ['violations']}).then((found) => arguments[0](found.violations))"
        found = self.driver.execute_async_script(run)
        return [
            f"{fault['id']}: {fault['help']}: {fault['nodes'][0]['html'][:200]}"
            for fault in found
            if fault["impact"] in ("serious", "critical")
        ]


def find(*names: str) -> str:
    """The first of these programs that is on the PATH; a failed test when there is none."""
    for name in names:
        if path := shutil.which(name):
            return path
    return pytest.fail(
        f"no {names[0]} on the PATH; expected a browser and its driver (Debian: apt-get install chromium "
        "chromium-driver, which ./run_tests.sh does when it may)"
    )


@contextmanager
def open_browser(folder: Path) -> Iterator[Page]:
    """A window with an empty profile in `folder`, where its downloads go too."""
    options = ChromeOptions()
    options.binary_location = find("chromium", "chromium-browser", "google-chrome")
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=Service(find("chromedriver")))
    try:
        driver.set_script_timeout(60)
        downloads = {"behavior": "allow", "downloadPath": str(folder / "downloads")}
        driver.execute_cdp_cmd("Browser.setDownloadBehavior", downloads)
        yield Page(driver)
    finally:
        driver.quit()

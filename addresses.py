"""Where a service may be reached: over https, or on this machine."""

import ipaddress

import httpx

from credentials import one_line
from errors import UserError


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def parse_url(url: str) -> httpx.URL:
    """A URL to whose host and port a connection can be tried. Raises ValueError saying why another is none."""
    try:
        parsed = httpx.URL(url)
        # What looking up its address would encode; a label may be too long, or empty.
        parsed.raw_host.decode("ascii").encode("idna")
    except (httpx.InvalidURL, ValueError) as error:
        raise ValueError(one_line(error)) from error
    if parsed.port is not None and not 0 < parsed.port < 2**16:
        raise ValueError(f"port {parsed.port}")
    return parsed


def check_base_url(setting: str, url: str) -> httpx.URL:
    """The base URL of a service, if it is https, or http on this machine. Raises UserError naming the setting."""
    expected = "expected https://host, or http://127.0.0.1:port for a service on this machine, without a password"
    try:
        parsed = parse_url(url)
    except ValueError as error:
        raise UserError(f"{setting}: not a URL that can be reached ({error}); {expected}") from error
    if parsed.userinfo:
        raise UserError(f"{setting}: holds a user name or password; {expected}")
    if not parsed.host or not (parsed.scheme == "https" or (parsed.scheme == "http" and is_loopback(parsed.host))):
        raise UserError(f"{setting}: {url}; {expected}")
    return parsed

"""Where a service may be reached: over https, or on this machine."""

import ipaddress

import httpx

from errors import UserError


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_base_url(setting: str, url: str) -> httpx.URL:
    """The base URL of a service, if it is https, or http on this machine. Raises UserError naming the setting."""
    expected = "expected https://host, or http://127.0.0.1:port for a service on this machine, without a password"
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise UserError(f"{setting}: not a URL; {expected}") from error
    if parsed.userinfo:
        raise UserError(f"{setting}: holds a user name or password; {expected}")
    if not parsed.host or not (parsed.scheme == "https" or (parsed.scheme == "http" and is_loopback(parsed.host))):
        raise UserError(f"{setting}: {url}; {expected}")
    return parsed

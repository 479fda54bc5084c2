"""The one exception a user is meant to see."""


class UserError(Exception):
    """Bad input or an unusable environment.

    The message is one line that names the file or value, what was found and what was expected.
    `cli.command` prints it on stderr and exits with 2; it is never shown as a traceback.
    """

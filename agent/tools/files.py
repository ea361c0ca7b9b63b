"""What the file tools share: text files of the sandbox read and written, their troubles told in words."""

from agent.tools.base import ToolContext


class Unreadable(Exception):
    """A file that cannot be read as text; the message is for the model."""


async def read_text(context: ToolContext, path: str) -> str:
    """The file as text; raises `Unreadable`."""
    try:
        raw = await context.sandbox.read_file(path)
        return raw.decode()
    except FileNotFoundError:
        raise Unreadable(f"there is no file {path}") from None
    except IsADirectoryError:
        raise Unreadable(f"{path} is a folder; list it with bash: ls -la") from None
    except PermissionError:
        raise Unreadable(f"{path} may not be read") from None
    except UnicodeDecodeError:
        raise Unreadable(f"{path} is no UTF-8 text; look at it with bash (file, xxd) or python") from None
    except (ValueError, OSError) as error:
        raise Unreadable(f"{path} cannot be read: {error}; for a part of it use bash (head, sed -n)") from None


async def write_text(context: ToolContext, path: str, text: str) -> str:
    """Write a file; returns why it could not be, or nothing."""
    try:
        await context.sandbox.write_file(path, text.encode("utf-8", "replace"))
    except (OSError, ValueError) as error:
        return f"{path} cannot be written: {error}"
    return ""

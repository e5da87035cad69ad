"""A Python without what Windows lacks. `python -m pytest -p tests.packaging.no_posix` runs tests in it."""

import os
import signal
import sys
from importlib.abc import MetaPathFinder

MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios")
_NAMES = {os: ("O_DIRECTORY", "O_NOFOLLOW", "O_PATH", "fork"), signal: ("SIGALRM", "setitimer")}


class _Refusing(MetaPathFinder):
    def find_spec(self, fullname: str, *_: object) -> None:
        if fullname in MODULES:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


for module in MODULES:
    sys.modules.pop(module, None)
sys.meta_path.insert(0, _Refusing())
for holder, names in _NAMES.items():
    for name in names:
        delattr(holder, name)

"""pack(text) -> bytes, unpack(bytes) -> text: of a definition only what it does not share with a usual one."""

import zlib

_USUAL = (
    b'{"command": {"argv": ["/usr/bin/", ""], "cwd": "", "env": [], "grace": "10s", "group": "", "limits": [], '
    b'"output_limit": 1048576, "stderr": "capture", "stdin": "", "stdout": "capture", "timeout": null, "umask": null, '
    b'"user": ""}, "description": "", "policy": {"concurrency": "forbid", "deadline": "0s", "suspend": false}, '
    b'"retries": 0, "retry_delay": "30s", "schedule": "0 0 * * *", "timing": {"avoid": [], "dialect": "extended", '
    b'"distribution": {"name": "uniform", "params": {}}, "gap": "skip", "only": [], "repeated": "both", '
    b'"schedule": "0 0 * * *", "seed": {"salt": "", "strategy": "stable"}, "timezone": "UTC", '
    b'"window": {"duration": "0s", "mode": "after"}}}'
)
"""What most definitions look like; another one would do, and cost room. Nothing packed outlives the process."""

_RAW = -12  # no header, and as far back as the usual text reaches
_SMALL = 5  # the compressor's own tables: larger ones take longer to clear than to use


def pack(text: str) -> bytes:
    """Return a text in little room; equal texts, and no others, are packed alike."""
    packing = zlib.compressobj(1, zlib.DEFLATED, _RAW, _SMALL, zdict=_USUAL)
    return packing.compress(text.encode()) + packing.flush()


def unpack(packed: bytes) -> str:
    """Return the text."""
    return zlib.decompressobj(_RAW, zdict=_USUAL).decompress(packed).decode()

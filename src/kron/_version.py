"""The distribution's version, read by the build and by `kron --version`."""

__version__ = "0.1.0"

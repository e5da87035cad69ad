"""How a spawner treats signals: it cannot be asked to end, and its children start with nothing changed."""

# `signal` itself would cost each spawner its enums: five milliseconds, and half a megabyte.
import _signal  # type: ignore[import-not-found]  # it has no stub
import os

_CATCHABLE = tuple({*_signal.valid_signals()} - {_signal.SIGKILL, _signal.SIGSTOP})
_ENDING = (_signal.SIGHUP, _signal.SIGINT, _signal.SIGQUIT, _signal.SIGTERM, _signal.SIGUSR1, _signal.SIGUSR2)


def ignore_requests_to_end() -> None:
    """Outlive what is meant for the host: a terminal's Ctrl-C, a service manager that signals everybody."""
    for number in _ENDING:
        _signal.signal(number, _signal.SIG_IGN)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())


def ends_of_children() -> int:
    """Return a descriptor that can be read whenever a child has ended."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    _signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    return reading


def hold_ends() -> None:
    """Let ends of children wait. A signal for each, while there is work, would cost a tenth of a start."""
    _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGCHLD,))


def hear_ends() -> None:
    """Be told of them again, of those that waited, too."""
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGCHLD,))


def ignored() -> tuple[int, ...]:
    """Return the signals that are ignored here, and would be in a child: by us, by Python, or by whoever started us."""
    return tuple(number for number in _CATCHABLE if _signal.getsignal(number) is _signal.SIG_IGN)


def restore_all() -> None:
    """Let every signal have its default effect, and none be blocked."""
    _signal.set_wakeup_fd(-1)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
    for number in _CATCHABLE:
        try:
            _signal.signal(number, _signal.SIG_DFL)
        except OSError:  # the C library keeps some for itself
            continue

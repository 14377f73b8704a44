"""Commands as forks of one warm process: real processes that need not load Python and the program first.

`python -m recollect …` spends most of its time on imports. Here one process imports the program once and forks for each
command. The fork has its own folder, environment, standard streams and exit code, and nothing of it outlives it.

    forked.py serve SOCKET                  forks for whoever connects, until its standard input ends
    forked.py ask SOCKET ARGUMENT…          `recollect ARGUMENT…` here and now, as such a fork

What a fork cannot show (imports, signals, terminals, closed streams, `serve`) needs a real process.
"""

from __future__ import annotations

import array
import os
import socket
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping
    from pathlib import Path

# The web framework and the SDKs: few commands need them, and every fork would copy their pages.
NOT_PRELOADED = ("recollect.api", "recollect.mcp", "recollect.hosts.memory_tool")
_LENGTH = 8  # bytes that say how long the request is; the three streams travel with them


def run(
    arguments: tuple[str | bytes, ...], *, stdin: bytes, cwd: Path, env: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[bytes]:
    """`subprocess.run` of a command, with its output captured."""
    from concurrent.futures import ThreadPoolExecutor
    from subprocess import CompletedProcess

    given, stdin_end = os.pipe()
    stdout_end, stdout = os.pipe()
    stderr_end, stderr = os.pipe()
    with socket.socket(socket.AF_UNIX) as connection, ThreadPoolExecutor(3) as threads:
        connection.connect(_server())
        _ask(connection, [os.fsdecode(argument) for argument in arguments], str(cwd), env, (given, stdout, stderr))
        for end in (given, stdout, stderr):
            os.close(end)
        threads.submit(_feed, stdin_end, stdin)
        read = [threads.submit(_drain, end) for end in (stdout_end, stderr_end)]
        code = _answer(connection, timeout)
        return CompletedProcess(list(arguments), code, *(one.result() for one in read))


def client(python: str = sys.executable) -> str:
    """The beginning of a command line that runs `recollect` as a fork."""
    return f"{python} -I -S {__file__} ask {_server()}"


def _feed(end: int, data: bytes) -> None:
    with open(end, "wb") as stream:
        try:
            stream.write(data)
            stream.flush()
        except BrokenPipeError:  # a command need not read its input
            os.dup2(os.open(os.devnull, os.O_WRONLY), end)


def _drain(end: int) -> bytes:
    with open(end, "rb") as stream:
        return stream.read()


def _ask(
    connection: socket.socket,
    arguments: list[str],
    cwd: str,
    environ: Mapping[str, str],
    streams: tuple[int, int, int],
) -> None:
    import json

    request = json.dumps([arguments, cwd, dict(environ)]).encode()
    connection.sendmsg(
        [len(request).to_bytes(_LENGTH)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", streams))]
    )
    connection.sendall(request)


def _answer(connection: socket.socket, timeout: float | None) -> int:
    """The exit code; a fork that takes too long is killed."""
    pid = int.from_bytes(_exactly(connection, 4))
    connection.settimeout(timeout)
    try:
        return int.from_bytes(_exactly(connection, 4), signed=True)
    except TimeoutError:
        os.kill(pid, 9)
        raise


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise ConnectionError("the process that forks has ended")
        data += more
    return data


_servers: dict[int, str] = {}


def _server() -> str:
    """The socket of this process's own server, which ends with this process."""
    if os.getpid() not in _servers:
        import atexit
        import shutil
        import subprocess
        import tempfile
        from pathlib import Path

        import recollect

        folder = tempfile.mkdtemp(prefix="rfork-", dir="/tmp")  # a socket's path may not be long
        path = f"{folder}/socket"
        environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(recollect.__file__).parents[1]), "HOME": folder}
        process = subprocess.Popen(
            [sys.executable, "-P", __file__, "serve", path],
            env=environ,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.stdout.close()
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        atexit.register(process.wait)
        atexit.register(process.stdin.close)
        _servers[os.getpid()] = path
    return _servers[os.getpid()]


def _serve(path: str) -> None:
    import gc
    import selectors
    import signal

    _preload()
    gc.collect()
    gc.freeze()  # a collection in a fork would copy every page
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen(64)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    print("ready", flush=True)
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 1)
    selector = selectors.DefaultSelector()
    for source in (0, listening, woken):
        selector.register(source, selectors.EVENT_READ)
    running: dict[int, socket.socket] = {}
    while True:
        for key, _ in selector.select():
            if key.fileobj == 0:
                return
            if key.fileobj == woken:
                os.read(woken, 4096)
                _reap(running)
            else:
                connection, _ = listening.accept()
                pid = _forked(connection, unwanted=(listening.fileno(), woken, wake, selector.fileno()))
                running[pid] = connection
                connection.sendall(pid.to_bytes(4))


def _reap(running: dict[int, socket.socket]) -> None:
    from contextlib import suppress

    for pid in list(running):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            with running.pop(pid) as connection, suppress(OSError):  # the caller has gone
                connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, signed=True))


def _preload() -> None:
    """Everything that most commands import."""
    import importlib
    import pkgutil

    import recollect
    import recollect.__main__

    for module in pkgutil.walk_packages(recollect.__path__, "recollect."):
        if not module.name.startswith(NOT_PRELOADED):
            importlib.import_module(module.name)


def _forked(connection: socket.socket, *, unwanted: tuple[int, ...]) -> int:
    """A fork that runs the command it is sent; gives its process id to the parent."""
    import json

    data, streams, _, _ = socket.recv_fds(connection, _LENGTH, 3)
    request = json.loads(_exactly(connection, int.from_bytes(data)))
    pid = os.fork()
    if pid == 0:
        try:
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            for handle in (*streams, *unwanted, connection.detach()):
                os.close(handle)
            code = _command(*request)
        except BaseException:
            import traceback

            traceback.print_exc()
            code = 1
        os._exit(code)
    for stream in streams:
        os.close(stream)
    return pid


def _command(arguments: list[str], cwd: str, environ: dict[str, str]) -> int:
    """What Python does round `python -m recollect`: streams, arguments, and the end of the process."""
    import atexit
    import signal
    import threading
    import time

    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    escape = "surrogateescape"  # as Python chooses where the locale is C
    sys.stdin = os.fdopen(0, "r", encoding="utf-8", errors=escape, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors=escape, closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    import recollect.__main__ as program

    sys.argv = [program.__file__, *arguments]
    code = 0
    try:
        program.main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except OSError:
        return 120
    return code


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        _serve(sys.argv[2])
    else:
        with socket.socket(socket.AF_UNIX) as asked:
            asked.connect(sys.argv[2])
            _ask(asked, sys.argv[3:], os.getcwd(), os.environ, (0, 1, 2))
            sys.exit(_answer(asked, None))

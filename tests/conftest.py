"""The folder of this file is searched for modules: `loading`, `marking` and `mechanisms` serve every test."""

import signal
import threading

# tests that a shell starts in the background ignore Ctrl-C, and those that wait for it would wait for ever
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    and threading.current_thread() is threading.main_thread()
):
    signal.signal(signal.SIGINT, signal.default_int_handler)

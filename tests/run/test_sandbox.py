from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread, Timer

import pytest

from whence.errors import SubjectError
from whence.run import sandbox
from whence.run.sandbox import Sandbox, choose_base, copy_files, remove_tree


@pytest.fixture(autouse=True)
def base(monkeypatch, tmp_path_factory):
    """A folder for the sandboxes of one test: another process would take a number as soon as it is free."""
    folder = tmp_path_factory.mktemp("base")
    monkeypatch.setattr(sandbox, "choose_base", lambda: folder)
    return folder


def in_base(base, code):
    """The text of a program whose sandboxes are made there as well."""
    choice = f"sandbox.choose_base = lambda: Path({str(base)!r})"
    return f"from pathlib import Path\nfrom whence.run import sandbox\n{choice}\n{code}"


def test_sandboxes_do_not_share_a_folder_and_go():
    with Sandbox() as one, Sandbox() as two:
        assert one.root != two.root
        assert one.work.is_dir() and two.work.is_dir()
        roots = [one.root, two.root]
    for root in roots:
        assert not root.exists()
        assert not Path(f"{root}.lock").exists()


def test_the_folder_seldom_varies():
    with Sandbox() as first:
        root = first.root
    with Sandbox() as second:
        assert second.root == root


def test_what_a_killed_session_left_is_cleared(base):
    code = """if True:
        import os
        from whence.run.sandbox import Sandbox
        box = Sandbox()
        box.work.joinpath("x").touch()
        print(box.root, flush=True)
        os._exit(0)
    """
    command = [sys.executable, "-c", in_base(base, code)]
    root = Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
    assert (root / "work/x").exists()
    with Sandbox() as box:
        assert box.root == root
        assert not (root / "work/x").exists()


def test_a_lock_goes_though_what_was_being_started_holds_it_for_a_moment(base):
    """A forked process that has not come to its exec has all descriptors of the one that was killed."""
    code = """if True:
        import os, signal, subprocess
        from whence.run.sandbox import Sandbox
        box = Sandbox()
        subprocess.Popen(["sleep", "0.2"], pass_fds=[box._lock])
        print(box.root, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", in_base(base, code)], stdout=subprocess.PIPE, text=True, check=False)
    lock = Path(f"{done.stdout.strip()}.lock")
    assert lock.exists()
    sandbox.sweep()
    assert list(base.iterdir()) == []


def test_the_lock_of_a_process_that_nobody_has_waited_for_goes(base):
    """What it was about to start holds the lock for a moment more; that its number is taken says nothing."""
    lock = base / f"whence-{os.getuid()}-000.lock"
    ended = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    lock.write_text(str(ended.pid))
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        timer = Timer(0.1, held.close)
        timer.start()
        sandbox.sweep()
        timer.join()
    ended.wait()
    assert not lock.exists()


def test_a_sandbox_goes_at_exit(base):
    code = "print(sandbox.Sandbox().root); raise SystemExit(3)"
    run = subprocess.run([sys.executable, "-c", in_base(base, code)], capture_output=True, text=True, check=False)
    assert run.returncode == 3
    assert Path(run.stdout.strip()).parent == base
    assert list(base.iterdir()) == []


def test_a_thread_that_goes_on_at_exit_gets_no_new_one(base):
    code = """if True:
        import atexit
        from whence.errors import SubjectError
        from whence.run.sandbox import Sandbox
        box = Sandbox()
        atexit._run_exitfuncs()
        assert not box.root.exists()
        try:
            print(Sandbox().root)
        except SubjectError as error:
            print(error)
    """
    run = subprocess.run([sys.executable, "-c", in_base(base, code)], capture_output=True, text=True, check=True)
    assert run.stdout == "no folder for runs is made any more: the command ends\n"


def test_who_closes_it_as_well_waits_until_it_is_gone(monkeypatch):
    removing, may_go = Event(), Event()

    def slowly(root: Path) -> None:
        removing.set()
        may_go.wait()
        remove_tree(root)

    box = Sandbox()
    monkeypatch.setattr("whence.run.sandbox.remove_tree", slowly)
    threads = [Thread(target=box.close), Thread(target=box.close)]
    threads[0].start()
    assert removing.wait(10)
    threads[1].start()
    threads[1].join(0.1)
    assert threads[1].is_alive()
    may_go.set()
    for thread in threads:
        thread.join(10)
    assert not box.root.exists() and not Path(f"{box.root}.lock").exists()


def test_inputs_are_kept_once():
    with Sandbox() as box:
        path = box.input_path(b"abc")
        assert path.read_bytes() == b"abc"
        assert box.input_path(b"abc") == path
        assert box.input_path(b"abd") != path
        assert box.input_path(b"") == Path("/dev/null")


def test_own_variables_win():
    with Sandbox() as box:
        variables = box.environment({"TZ": "X", "A": "ü"})
        assert b"TZ=X" in variables and b"TZ=UTC" not in variables
        assert "A=ü".encode() in variables
        assert b"HOME=" + bytes(box.work) in variables


def test_folders_without_permission_are_removed(tmp_path):
    deep = tmp_path / "top/a/b"
    deep.mkdir(parents=True)
    (deep / "file").touch()
    for folder in (deep, deep.parent, tmp_path / "top"):
        folder.chmod(0)
    remove_tree(tmp_path / "top")
    assert not (tmp_path / "top").exists()
    remove_tree(tmp_path / "top")


def test_a_folder_of_more_levels_than_python_descends_is_removed(tmp_path):
    top = tmp_path / "top"
    script = "import os\nfor _ in range(1500):\n    os.mkdir('d')\n    os.chdir('d')\nopen('file', 'w').close()"
    top.mkdir()
    subprocess.run([sys.executable, "-c", script], cwd=top, check=True)
    remove_tree(top)
    assert not top.exists()


def test_what_stands_in_a_folders_place_is_removed_but_not_what_it_leads_to(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "other")
    (tmp_path / "file").touch()
    remove_tree(tmp_path / "link")
    remove_tree(tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_copies_keep_modes_and_times(tmp_path):
    script = tmp_path / "script"
    script.write_text("x")
    script.chmod(0o750)
    os.utime(script, (5, 5))
    (tmp_path / "from").mkdir()
    (tmp_path / "from/link").symlink_to("nowhere")
    target = tmp_path / "to"
    target.mkdir()
    copy_files([("a/script", script), ("from", tmp_path / "from")], target)
    assert (target / "a/script").stat().st_mode & 0o777 == 0o750
    assert (target / "a/script").stat().st_mtime == 5
    assert (target / "from/link").is_symlink()


def test_memory_is_preferred_when_it_has_room(monkeypatch):
    monkeypatch.setattr(sandbox, "ROOM_WANTED", 1 << 60)
    assert choose_base() != sandbox.MEMORY_FOLDER
    monkeypatch.setattr(sandbox, "MEMORY_FOLDER", Path("/nowhere"))
    assert choose_base().is_dir()


def test_full_disk_is_one_clear_line(monkeypatch):
    with Sandbox() as box:
        with (
            pytest.raises(SubjectError, match=r"no space left in .*, where the cases run") as caught,
            box.full_disk_is_clear(),
        ):
            raise OSError(errno.ENOSPC, "No space left on device")
        assert "TMPDIR" in caught.value.hint
        monkeypatch.setattr(sandbox, "ROOM_NEEDED", 1 << 60)
        with pytest.raises(SubjectError, match="no space left"):
            box.check_room()


def test_an_alarm_in_the_middle_of_making_one_leaves_nothing(monkeypatch, base):
    """What was interrupted would not know of the lock that it had just taken."""
    handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    take = sandbox._try_lock

    def disturbed(path):
        lock = take(path)
        os.kill(os.getpid(), signal.SIGALRM)
        return lock

    monkeypatch.setattr(sandbox, "_try_lock", disturbed)
    try:
        with pytest.raises(KeyboardInterrupt):
            Sandbox()
    finally:
        signal.signal(signal.SIGALRM, handler)
    (box,) = (box for box in sandbox._OPEN._boxes if box.root.parent == base)
    box.close()
    assert list(base.iterdir()) == []


def test_an_alarm_in_the_middle_of_closing_one_closes_no_descriptor_twice(monkeypatch, base):
    """The number may be another file's by then, and the folder another sandbox's."""
    handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    box = Sandbox()
    slots = box.slots(2)
    held = {str(path) for slot in slots for path in (slot.stdout, slot.stderr)} | {f"{box.root}.lock"}

    def disturbed(descriptor):
        is_held = str(Path(f"/proc/self/fd/{descriptor}").readlink()).removesuffix(" (deleted)") in held
        close(descriptor)
        if is_held:
            os.kill(os.getpid(), signal.SIGALRM)

    close = os.close
    monkeypatch.setattr(os, "close", disturbed)
    try:
        for _ in range(4):
            with contextlib.suppress(KeyboardInterrupt):
                box.close()
    finally:
        monkeypatch.undo()
        signal.signal(signal.SIGALRM, handler)
    assert list(base.iterdir()) == [] and box not in sandbox._OPEN._boxes

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""deploy/systemd: the unit beside a service of another user, where systemd is the first process."""
import os
import re
import shutil
import subprocess

import guest_lab
import lab

UNIT = "tracer@app.service"


def install():
    """As the documentation says, with the program that needs no library."""
    shutil.copy(os.path.join(lab.TOP, "build/tracer-static"), "/usr/local/bin/tracer")
    shutil.copy(os.path.join(lab.TOP, "deploy/systemd/tracer@.service"), "/etc/systemd/system")
    guest_lab.call("systemctl", "daemon-reload")


def journal():
    return subprocess.run(["journalctl", "-q", "-o", "cat", "-u", UNIT], capture_output=True, text=True, check=True).stdout


def end():
    subprocess.run(["systemctl", "stop", UNIT, "app.service"], capture_output=True, check=False)
    subprocess.run(["systemctl", "reset-failed"], capture_output=True, check=False)
    guest_lab.call("journalctl", "--rotate")
    guest_lab.call("journalctl", "--vacuum-time=1s")


def test_unit():
    install()
    app = guest_lab.start_service()
    try:
        guest_lab.call("systemctl", "start", UNIT)
        guest_lab.wait_ready(journal, lambda: subprocess.run(["systemctl", "is-active", "-q", UNIT], check=False).returncode == 0)
        guest_lab.check_confined(guest_lab.REPLACED)
        account = guest_lab.work(app, old=True)
        guest_lab.call("systemctl", "stop", UNIT)
        report = guest_lab.last_report(journal())
        guest_lab.check_old(account, report)
        assert [each["pid"] for each in report["targets"]] == [app.pid], report["targets"]
        shown = guest_lab.call("systemctl", "show", "-p", "Result,ExecMainStatus", UNIT).split()
        assert sorted(shown) == ["ExecMainStatus=0", "Result=success"], shown
        app.check_left_alone()
    finally:
        end()


def test_library_replaced():
    """As an upgrade does it: what the target has mapped has no name any more. The unit has two capabilities for that."""
    install()
    app = guest_lab.start_service()
    try:
        with open("/proc/%d/maps" % app.pid, encoding="utf-8") as maps:
            library = re.search(r"/\S*libc\.so\S*", maps.read()).group(0)
        shutil.copy(library, library + ".new")
        os.rename(library + ".new", library)
        guest_lab.call("systemctl", "start", UNIT)
        guest_lab.wait_ready(journal)
        account = guest_lab.work(app, old=True)
        guest_lab.call("systemctl", "stop", UNIT)
        guest_lab.check_old(account, guest_lab.last_report(journal()))
        app.check_left_alone()
    finally:
        end()


def test_exposure():
    """What systemd itself says of the unit: 10 is a service that may do all, 0 one that may do nothing."""
    install()
    said = guest_lab.call("systemd-analyze", "security", "--no-pager", UNIT)
    found = re.search(r"exposure level for \S+: ([0-9.]+)", said)
    print("note systemd-analyze security: %s" % found.group(1))
    assert float(found.group(1)) < 5, said


def test_service_that_is_not_there():
    """The unit fails, and says why."""
    install()
    try:
        guest_lab.call("systemctl", "start", "tracer@nothing.service")
        lab.wait_for(lambda: subprocess.run(["systemctl", "is-failed", "-q", "tracer@nothing.service"], check=False)
                     .returncode == 0, "the unit has failed")
        said = guest_lab.call("journalctl", "-q", "-o", "cat", "-u", "tracer@nothing.service")
        assert "there is no cgroup" in said, said
        assert guest_lab.call("systemctl", "show", "-p", "ExecMainStatus", "tracer@nothing.service").strip() == "ExecMainStatus=4"
    finally:
        end()


lab.run_tests()

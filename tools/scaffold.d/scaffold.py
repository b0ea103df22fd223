"""What tools/new-server and tools/new-attack share: checked arguments, files that are never
overwritten, and the selftest of the pack afterwards."""
import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TEMPLATES = pathlib.Path(__file__).resolve().parent


class Refused(Exception):
    """A wrong argument; the text says what would be right."""


def parser(name, about, examples):
    return argparse.ArgumentParser(
        prog="tools/" + name, description=about, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n" + "".join("  %s\n" % line for line in examples))


def check_id(what, name):
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) or len(name) > 40:
        raise Refused('the id of %s is lower-case words with hyphens, at most 40 characters, such as '
                      '"%s"; not "%s"' % (what, "room-booking" if what == "a server" else "copied-report", name))


def folder(text):
    """A folder named on the command line; none at all is not the current one, which is "."."""
    if not text.strip():
        raise argparse.ArgumentTypeError('names no folder; write . for the current one')
    return pathlib.Path(text)


def quoted(path):
    """A path as a shell takes it, for the commands that are printed."""
    return shlex.quote(str(path))


def check_folder(folder):
    if folder.exists() and not folder.is_dir():
        raise Refused("%s is not a folder" % folder)


def check_writable(path):
    """Refuses a file whose folder cannot be made or written to."""
    place = path.parent
    while not os.path.lexists(place) and place != place.parent:
        place = place.parent
    if not place.is_dir():
        raise Refused("%s is not a folder" % place)
    if not os.access(place, os.W_OK | os.X_OK):
        raise Refused("the folder %s cannot be written to; it must be writable for %s to be made there"
                      % (place, path))


def title_of(name):
    return name.replace("-", " ").capitalize()


def fill(template, values):
    text = (TEMPLATES / template).read_text()
    for key, value in values.items():
        text = text.replace("@%s@" % key, value)
    left = re.search(r"@[A-Z]+@", text)
    assert not left, left
    return text


def write_new(files):
    """Writes all of {path: text}, or none if one exists."""
    for path in files:
        if path.exists():
            raise Refused("%s exists already; choose another id, or move it away" % path)
        check_writable(path)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print("wrote " + str(path))


def program(name):
    """The newest build of a program: in BTZ_BUILD_DIR, under build/ or build-*/, else on the PATH."""
    if os.environ.get("BTZ_BUILD_DIR"):
        folders = [pathlib.Path(os.environ["BTZ_BUILD_DIR"])]
    else:
        folders = [ROOT / "build"] + list(ROOT.glob("build/*")) + list(ROOT.glob("build-*"))
    found = [f / name for f in folders if (f / name).is_file() and os.access(f / name, os.X_OK)]
    if found:
        return str(max(found, key=lambda path: path.stat().st_mtime))
    return shutil.which(name)


def selftest(folder):
    """Certifies core pack and `folder`; 0 if all passed or no program was found."""
    bartizan = program("bartizan")
    if not bartizan:
        print("no bartizan program was found: build it (./bootstrap), then run\n"
              "  bartizan selftest --pack %s" % quoted(folder))
        return 0
    print("running bartizan selftest --pack %s" % quoted(folder), flush=True)
    done = subprocess.run([bartizan, "selftest", "--pack", str(folder)], text=True, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode == 0:
        print("certified: core pack and this one together")
        return 0
    print(done.stdout, end="")
    print("not certified; `bartizan selftest --pack %s --verbose` names every check" % quoted(folder))
    return 1


def main(run):
    try:
        return run()
    except Refused as refused:
        print("error: %s" % refused, file=sys.stderr)
        return 2
    except OSError as failed:
        print("error: %s" % failed, file=sys.stderr)
        return 1

#!/usr/bin/env python3
"""Compiles and runs the programs in C and C++ that pages of documentation show, and runs their Python.

    documented_code.py SOURCE BUILD CC CXX PAGE...

SOURCE is the repository, BUILD the build tree, CC and CXX the compilers, a PAGE is a path below SOURCE. A block of C or C++ with a
main() is compiled as it stands, with the public headers, linked to the shared library, and must end with 0; so must
the blocks of Python of a page, which are run one after another as one program, in a folder with a picture dark.png
and a clip clip.mp4. Ends with 77 where a page has what this machine lacks a module for, and no failure.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LIBRARIES = {"equalux/opencv.h": "opencv4"}


def blocks(text):
    """(language, code) of a page's fenced blocks."""
    return re.findall(r"^```(\w+)\n(.*?)^```", text, re.M | re.S)


def run(words, **options):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, **options)
    return done.returncode, done.stdout + done.stderr


def compiled(source, build, compiler, language, code, folder):
    """Exit code and text of a program: None where a library of its headers is missing."""
    file = folder / ("program." + language)
    file.write_text(code)
    flags = ["-std=c99" if language == "c" else "-std=c++20", "-Wall", "-Wextra", f"-I{source}/include"]
    libraries = [f"-L{build}/lib", "-lequalux", f"-Wl,-rpath,{build}/lib"]
    for header, package in LIBRARIES.items():
        if header in code:
            status, found = run(["pkg-config", "--cflags", package])
            if status != 0:
                return None, f"{package} is missing"
            flags += [flag.replace("-I", "-isystem") for flag in found.split()]
            libraries += ["-lopencv_core"]
    program = folder / "program"
    status, text = run([compiler, *flags, str(file), "-o", str(program), *libraries])
    return (status, text) if status != 0 else run([str(program)])


def python(source, build, code, folder):
    if not list((build / "python/equalux").glob("_equalux*.so")):
        return None, "this build has no Python module"
    if shutil.which("ffmpeg") is None:
        return None, "ffmpeg is not installed"
    for name, count in (("clip.mp4", 10), ("dark.png", 1)):
        subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25", "-frames:v", str(count),
                        "-vf", "lutyuv=y=val/3+10", "-pix_fmt", "yuv420p" if count > 1 else "rgb24", str(folder / name)],
                       check=True)
    environment = dict(os.environ, PYTHONPATH=str(build / "python"))
    status, text = run([sys.executable, "-c", code], cwd=folder, env=environment)
    if status != 0 and "ModuleNotFoundError" in text and "equalux" not in text.rpartition("ModuleNotFoundError")[2]:
        return None, text.strip().splitlines()[-1]
    return status, text


def main():
    source, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    compilers = {"c": sys.argv[3], "cpp": sys.argv[4]}
    ran = failed = skipped = 0
    for page in sys.argv[5:]:
        found = blocks((source / page).read_text())
        whole = [(language, code) for language, code in found if language in compilers and "int main" in code]
        script = "\n".join(code for language, code in found if language == "python")
        for language, code in whole + ([("python", script)] if script else []):
            folder = pathlib.Path(tempfile.mkdtemp())
            try:
                if language == "python":
                    status, text = python(source, build, code, folder)
                else:
                    status, text = compiled(source, build, compilers[language], language, code, folder)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            ran += 1
            if status is None:
                skipped += 1
                print(f"{page}: {language} skipped: {text}")
            elif status != 0:
                failed += 1
                print(f"{page}: {language} failed with {status}:\n{code}\n{text}")
    print(f"{ran} programs, {failed} failed, {skipped} skipped")
    return 1 if failed or ran == 0 else 77 if skipped else 0


if __name__ == "__main__":
    sys.exit(main())

"""Builds wheels and source archives of equalux for pip: CMake makes the module, the rest is packing.

Needs what `scripts/install-dependencies build` installs, and nothing from a package index.
EQUALUX_BUILD names a build tree that has the module already, which is packed then; CMAKE_ARGS has options for CMake,
as -DEQUALUX_WITH_CUDA=OFF.
"""
import base64
import hashlib
import io
import os
import pathlib
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OFF = ("OPENCV", "GSTREAMER", "LIBAV", "HTTP", "EXIV2", "FREI0R", "RTSP", "OBS", "PIPEWIRE")
STAMP = (1980, 1, 1, 0, 0, 0)  # fixed, so that equal files give an equal wheel


def version():
    return re.search(r"project\(equalux VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def metadata():
    return (f"Metadata-Version: 2.1\nName: equalux\nVersion: {version()}\n"
            "Summary: Makes low-contrast video readable: equalization, CLAHE, denoising, vessels\n"
            "License: Apache-2.0\nRequires-Python: >=3.9\nRequires-Dist: numpy\n"
            "Description-Content-Type: text/markdown\n\n" + (ROOT / "docs/python.md").read_text())


def tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{re.sub('[-.]', '_', sysconfig.get_platform())}"


def built_module():
    """The compiled module, of EQUALUX_BUILD or of a build of its own."""
    build = pathlib.Path(os.environ.get("EQUALUX_BUILD") or ROOT / "build/wheel")
    name = "_equalux" + sysconfig.get_config_var("EXT_SUFFIX")
    if not os.environ.get("EQUALUX_BUILD"):
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DEQUALUX_UNITY=ON", "-DEQUALUX_BUILD_TESTS=OFF", "-DEQUALUX_WITH_PYTHON=ON",
                        f"-DPython3_EXECUTABLE={sys.executable}", *(f"-DEQUALUX_WITH_{part}=OFF" for part in OFF),
                        *shlex.split(os.environ.get("CMAKE_ARGS", ""))], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "equalux_python"], check=True)
    module = build / "python/equalux" / name
    if not module.exists():
        raise SystemExit(f"equalux_build: {module} is not there, must be built for this Python")
    return module


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """What pip wants to know before it builds."""
    info = pathlib.Path(metadata_directory) / f"equalux-{version()}.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(metadata())
    (info / "WHEEL").write_text(wheel_text())
    return info.name


def wheel_text():
    return f"Wheel-Version: 1.0\nGenerator: equalux_build\nRoot-Is-Purelib: false\nTag: {tag()}\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info = f"equalux-{version()}.dist-info"
    files = {f"equalux/{path.name}": path.read_bytes() for path in sorted((ROOT / "python/equalux").iterdir())
             if path.suffix in (".py", ".pyi", ".typed")}
    module = built_module()
    files[f"equalux/{module.name}"] = module.read_bytes()
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/WHEEL"] = wheel_text().encode()
    rows = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}\n")
    files[f"{info}/RECORD"] = ("".join(rows) + f"{info}/RECORD,,\n").encode()
    wheel = f"equalux-{version()}-{tag()}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, STAMP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            archive.writestr(entry, data)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    """Everything that git tracks, or in a copy without git everything but builds."""
    paths = []
    if (ROOT / ".git").exists():  # otherwise git would answer for a repository around a copy
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True)
        paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    if not paths:
        paths = [path for path in sorted(ROOT.rglob("*")) if path.is_file() and "__pycache__" not in path.parts
                 and path.relative_to(ROOT).parts[0] not in ("build", ".git", "PKG-INFO")]
    base = f"equalux-{version()}"
    with tarfile.open(pathlib.Path(sdist_directory) / f"{base}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path in paths:
            if path.is_file():
                archive.add(path, f"{base}/{path.relative_to(ROOT)}", recursive=False)
        data = metadata().encode()
        entry = tarfile.TarInfo(f"{base}/PKG-INFO")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return f"{base}.tar.gz"

#!/usr/bin/env bash
# A wheel of the built module can be installed and used; with EQUALUX_FULL=1 also one that pip builds itself, from the
# source archive.
#
#   test_wheel.sh SOURCE BUILD PYTHON
set -euo pipefail
source=$1 build=$2 python=$3
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: NumPy is not installed (python3-numpy)"; exit 77; }
"$python" -m pip --version >/dev/null 2>&1 || { echo "skipped: pip is not installed (python3-pip)"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
options=(--no-build-isolation --no-deps --no-index --quiet --disable-pip-version-check)

use() { # a wheel, installed into a folder of its own, filters a frame
  "$python" -m pip install "${options[@]}" --target "$scratch/$1" "$scratch/$1"-wheel/equalux-*.whl
  cd "$scratch"
  PYTHONPATH=$scratch/$1 "$python" - <<'END'
import numpy, equalux
frame = numpy.arange(256, dtype=numpy.uint8).reshape(16, 16) // 4
assert equalux.equalize()(frame).max() == 255
assert "site" in equalux.__file__ or "/built/" in equalux.__file__ or "/whole/" in equalux.__file__, equalux.__file__
END
}

EQUALUX_BUILD=$build "$python" -m pip wheel "$source" "${options[@]}" --wheel-dir "$scratch/built-wheel"
use built
version=$(sed -n 's/^project(equalux VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
ls "$scratch/built-wheel/equalux-$version"-cp*.whl
[ -z "$(cd "$source" && git status --porcelain --ignored -- '*.egg-info' 2>/dev/null)" ]

# A source archive of a copy that lies, unknown to git, in a repository of something else.
if command -v git >/dev/null; then
  mkdir -p "$scratch/other/copy/docs" "$scratch/other/copy/build"
  git -C "$scratch/other" init -q
  cp -r "$source"/{CMakeLists.txt,python} "$scratch/other/copy/"
  cp "$source/docs/python.md" "$scratch/other/copy/docs/"
  touch "$scratch/other/copy/build/none"
  (cd "$scratch/other/copy/python/backend" && "$python" -c "import equalux_build; equalux_build.build_sdist('$scratch/other')")
  held=$(tar -tf "$scratch/other/equalux-$version.tar.gz")
  grep -q '/CMakeLists.txt$' <<<"$held" && grep -q '/python/equalux/__init__.py$' <<<"$held" ||
    { echo "the source archive lacks sources:"; echo "$held"; exit 1; }
  ! grep -E '/build/|__pycache__' <<<"$held" || { echo "the source archive holds what was built"; exit 1; }
fi
[ -n "${EQUALUX_FULL:-}" ] || exit 0

cd "$source/python/backend"
"$python" -c "import equalux_build; equalux_build.build_sdist('$scratch')"
tar -C "$scratch" -xf "$scratch/equalux-$version.tar.gz"
"$python" -m pip wheel "$scratch/equalux-$version" "${options[@]}" --wheel-dir "$scratch/whole-wheel"
use whole

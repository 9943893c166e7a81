"""Pictures from Debian's packages, for the scripts of benchmarks."""

import importlib.util
from pathlib import Path


class Absent(Exception):
    """Raised with what this machine lacks."""


def photograph(name):
    """A photograph of python3-skimage, BGR. Throws Absent, and ImportError without python3-opencv."""
    import cv2
    # Finds the package without importing it, since scikit-image takes a second and loads half of SciPy.
    package = importlib.util.find_spec("skimage")
    folder = Path(package.submodule_search_locations[0]) / "data" if package else Path("skimage")
    picture = cv2.imread(str(folder / name)) if (folder / name).exists() else None
    if picture is None:
        raise Absent(f"{folder / name} is not there (Debian: python3-skimage)")
    return picture

#!/usr/bin/env python3
"""Vessels of the retina, from the fundus photograph that scikit-image brings, step by step, and their plot.

    PYTHONPATH=build/release/python samples/vessels.py [vessels.png]

Needs python3-skimage and python3-matplotlib. Each step is one call; the last plot shows what each one adds.
"""
import sys

import equalux

try:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from skimage import data
    photograph = data.retina()
except (ModuleNotFoundError, OSError) as missing:
    print(f"vessels.py: skipped: {missing}")
    sys.exit(77)

# Half of the side will do: vessels are then some pixels wide.
eye = photograph[::2, ::2].copy()

# The green channel shows vessels best; tiles bring up those in the dark, noise is left as it is.
green = eye[..., 1]
even = equalux.clahe(tiles=(8, 8), clip_limit=3)(green)

# The larger eigenvalue of the Hessian, over one width of vessels: dark lines are bright in it.
ridges = equalux.eigenvalues(sigma=2)(green)[1]

# What `vessel` makes of several widths: a mask, and the mask over the photograph.
mask = equalux.vessel(sigmas=(1.5, 2, 3), channel="green", format="rgb")(eye)
overlay = equalux.vessel(sigmas=(1.5, 2, 3), channel="green", output="overlay", format="rgb")(eye)

figures = equalux.measure(green, even)["figures"]
steps = [
    (eye, "photograph", None),
    (green, f"green, {figures['a']['entropy_bits']:.1f} bits of entropy", "gray"),
    (even, f"clahe, {figures['b']['entropy_bits']:.1f} bits", "gray"),
    (ridges, "larger eigenvalue, sigma 2", "gray"),
    (mask, f"vessel, {100 * (mask > 0).mean():.1f} % of the picture", "gray"),
    (overlay, "over the photograph", None),
]
figure, axes = pyplot.subplots(2, 3, figsize=(12, 8.4), layout="constrained")
for axis, (picture, title, colors) in zip(axes.flat, steps):
    limits = {"vmin": 0, "vmax": abs(picture).max() / 2} if picture.dtype == "float32" else {}
    axis.imshow(picture, cmap=colors, **limits)
    axis.set_title(title)
    axis.axis("off")
name = sys.argv[1] if len(sys.argv) > 1 else "vessels.png"
figure.savefig(name, dpi=90)
print(f"{name}: {(mask > 0).sum()} pixels of vessels in {mask.shape[1]}x{mask.shape[0]}")

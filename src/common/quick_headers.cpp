// Has nothing of its own: CMake makes a precompiled header for a target, which needs a source.

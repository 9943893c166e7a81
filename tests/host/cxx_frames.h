#pragma once

#include <stddef.h>
#include <stdint.h>

/// Frames by the C++ interface of the same library, for tests in C.
#ifdef __cplusplus
extern "C" {
#endif

/// Filters `count` frames, tight planes one behind another, by filters of specs that are separated
/// by a blank, a thirtieth of a second apart. Returns the bytes of one result; 0 where it fails.
size_t cxx_frames(const char* specs, const char* format, int width, int height,
                  const uint8_t* frames, int count, uint8_t* results);

#ifdef __cplusplus
}
#endif

#pragma once

/// Marks what the shared library exports; everything else is hidden.
#if defined(_WIN32)
#define EQUALUX_EXPORT
#else
#define EQUALUX_EXPORT __attribute__((visibility("default")))
#endif

#pragma once

/// Exports a symbol from the shared library; all others are hidden.
#if defined(_WIN32)
#define EQUALUX_EXPORT
#else
#define EQUALUX_EXPORT __attribute__((visibility("default")))
#endif

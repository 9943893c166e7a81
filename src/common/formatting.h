#pragma once

/// Core header of fmt, the one that spdlog uses. Formatting then is compiled once, in fmt's
/// library; its other headers and spdlog's compile it in every file, which takes seconds each. Not
/// for use: format_to(). Clang 14 mangles what it calls in that library otherwise than GCC, which
/// built it, and programs do not link.
#ifdef SPDLOG_FMT_EXTERNAL
#include <fmt/core.h>
#else
#include <spdlog/fmt/bundled/core.h>
#endif

#pragma once

/// fmt's core, which formats in its library: its other headers, and spdlog's, format again in every
/// file that includes them, which takes a compiler seconds each. It is the fmt of spdlog.
#ifdef SPDLOG_FMT_EXTERNAL
#include <fmt/core.h>
#else
#include <spdlog/fmt/bundled/core.h>
#endif

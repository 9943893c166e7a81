#pragma once

#include <string_view>

#include <spdlog/spdlog.h>

/// The program's log: stderr only, so that frames on stdout are never mixed with it.
namespace equalux {

/// The one logger. Thread-safe. Usable before set_up_logging(): warnings and above then.
spdlog::logger& logger();

/// Level by name (trace, debug, info, warn, error, off). Throws Error(usage) for another one.
void set_up_logging(std::string_view level);

}  // namespace equalux

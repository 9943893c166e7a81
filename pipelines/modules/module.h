#pragma once

#include <string>
#include <string_view>

#include "src/common/log.h"

/// Parts of the program that are loaded when one of their functions is first called, because the
/// libraries that they depend on take longer to load than most runs take.
///
/// A module is a shared object of this build in lib/equalux/ beside the program. It contains one of
/// the folders' libraries with what that needs of the core, and exports one function, its entry,
/// which returns a table of functions. Callers link `on_demand.cpp` of the folder in place of the
/// library, and nothing else differs. Exceptions, and objects with virtual functions, pass in both
/// directions.
namespace equalux {

/// Name of a module that a build may have, and its purpose.
struct ModuleName {
  std::string_view name;
  std::string_view purpose;  ///< "cameras"
};
inline constexpr ModuleName kStillsModule{"stills", "stills other than PNM"};
inline constexpr ModuleName kCameraModule{"camera", "cameras"};
inline constexpr ModuleName kWindowModule{"window", "the window"};
inline constexpr ModuleName kPipewireModule{"pipewire", "cameras of PipeWire"};
inline constexpr ModuleName kMediaModule{"media", "video files, their encoders and gst: pipelines"};

/// Name of the one function that a module exports, a ModuleEntry.
inline constexpr const char* kModuleEntry = "equalux_module";
/// Returns the module's table, or null for another version. Redirects the module's log to the
/// program's.
using ModuleEntry = const void*(std::string_view version, Logger& log);

/// Implements a module's entry: returns `table` to a program of this version.
[[nodiscard]] const void* module_entry(std::string_view version, Logger& log, const void* table);

/// Returns the module's table; the first call loads it. Throws Error(unavailable). Thread-safe.
[[nodiscard]] const void* load_module(const ModuleName& module);

/// Returns the functions of a module, whose table is a `Table`.
template <typename Table>
const Table& functions_of(const ModuleName& module) {
  static const Table& table = *static_cast<const Table*>(load_module(module));
  return table;
}

}  // namespace equalux

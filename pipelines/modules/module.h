#pragma once

#include <string>
#include <string_view>

#include "src/common/log.h"

/// Parts of the program that are loaded when something of them is first called: the libraries that
/// they stand on take longer to load than most runs take.
///
/// A module is a shared object of this build in lib/equalux/ beside the program. It holds one of
/// the folders' libraries with what that needs of the core, and shows one function, its entry,
/// which gives a table of functions. What calls them through `on_demand.cpp` of that folder links
/// that in place of the library, and nothing else differs. Exceptions, and objects with virtual
/// functions, pass in both directions.
namespace equalux {

/// Names of the modules that a build may have, and what for.
struct ModuleName {
  std::string_view name;
  std::string_view purpose;  ///< "cameras"
};
inline constexpr ModuleName kStillsModule{"stills", "stills other than PNM"};
inline constexpr ModuleName kCameraModule{"camera", "cameras"};
inline constexpr ModuleName kWindowModule{"window", "the window"};
inline constexpr ModuleName kPipewireModule{"pipewire", "cameras of PipeWire"};
inline constexpr ModuleName kMediaModule{"media", "video files, their encoders and gst:"};

/// The name of the function that a module shows, which is a ModuleEntry.
inline constexpr const char* kModuleEntry = "equalux_module";
/// Gives the module's table, or null where it is of another version. The log of the module becomes
/// the program's.
using ModuleEntry = const void*(std::string_view version, Logger& log);

/// What a module's entry returns: `table` for a program of this version.
[[nodiscard]] const void* module_entry(std::string_view version, Logger& log, const void* table);

/// The module's table; the first call loads it. Throws Error(unavailable). Thread-safe.
[[nodiscard]] const void* load_module(const ModuleName& module);

/// The functions of a module, whose table is a `Table`.
template <typename Table>
const Table& functions_of(const ModuleName& module) {
  static const Table& table = *static_cast<const Table*>(load_module(module));
  return table;
}

}  // namespace equalux

#include "pipelines/modules/module.h"

#include <filesystem>
#include <system_error>

#include <dlfcn.h>
#include <equalux/error.h>
#include <equalux/filter.h>

namespace fs = std::filesystem;

namespace equalux {
namespace {

Error unusable(const ModuleName& module, const std::string& why) {
  return {ExitCode::unavailable,
          std::string(module.purpose) + ": " + why +
              "; must be installed with the program and the libraries that it names"};
}

/// Returns lib/equalux/NAME.so of the build tree or of the prefix that the program is in.
fs::path module_path(const ModuleName& module) {
  const fs::path prefix = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  const std::string file = std::string(module.name) + ".so";
  const fs::path built = prefix / "lib" / "equalux" / file;
  std::error_code ignored;
  return fs::exists(built, ignored) ? built : prefix / EQUALUX_MODULE_FOLDER / file;
}

}  // namespace

const void* module_entry(std::string_view version_of_program, Logger& log, const void* table) {
  if (version_of_program != version()) return nullptr;
  share_logger(log);
  return table;
}

const void* load_module(const ModuleName& module) {
  const fs::path path = module_path(module);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) throw unusable(module, path.string() + " is missing");
  // RTLD_LAZY looks up only those functions of the libraries that are called.
  void* const library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    throw unusable(module, path.string() + " cannot be loaded: " + ::dlerror());
  }
  auto* const entry = reinterpret_cast<ModuleEntry*>(::dlsym(library, kModuleEntry));
  const void* const table = entry == nullptr ? nullptr : entry(version(), logger());
  if (table == nullptr) {
    throw unusable(module, path.string() + " is not of equalux " + std::string(version()));
  }
  return table;
}

}  // namespace equalux

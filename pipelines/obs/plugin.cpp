// Entry points of the OBS module, and the registration of its filters.
#include <obs-module.h>

#include "pipelines/obs/sources.h"

// NOLINTBEGIN(readability-identifier-naming): OBS's names.
OBS_DECLARE_MODULE()

MODULE_EXPORT const char* obs_module_name() {
  return "equalux";
}

MODULE_EXPORT const char* obs_module_author() {
  return "the authors of equalux";
}

MODULE_EXPORT const char* obs_module_description() {
  return "Makes low-contrast video readable, and takes its noise off";
}

MODULE_EXPORT bool obs_module_load() {
  for (const equalux::obs::Kind& each : equalux::obs::kinds()) {
    const obs_source_info info = equalux::obs::source_info(each);
    obs_register_source(&info);
  }
  return true;
}
// NOLINTEND(readability-identifier-naming)

#include <equalux/export.h>

/// A module that is not of the program's version.
extern "C" EQUALUX_EXPORT const void* equalux_module() {
  return nullptr;
}

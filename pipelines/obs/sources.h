#pragma once

#include <span>

#include <equalux/filter.h>
#include <obs.h>

/// The filters as OBS sources.
namespace equalux::obs {

/// One kind of filter.
struct Kind {
  const char* id;      ///< stored in scene collections
  const char* name;    ///< shown in OBS's list of filters
  const char* filter;  ///< the library's name
};
[[nodiscard]] std::span<const Kind> kinds();

/// Describes a kind of filter to libobs.
[[nodiscard]] obs_source_info source_info(const Kind& kind);

}  // namespace equalux::obs

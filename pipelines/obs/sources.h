#pragma once

#include <span>

#include <equalux/filter.h>
#include <obs.h>

/// The filters as sources of OBS.
namespace equalux::obs {

/// One kind of filter.
struct Kind {
  const char* id;      ///< stands in people's scene collections
  const char* name;    ///< in OBS's list of filters
  const char* filter;  ///< the library's name of it
};
[[nodiscard]] std::span<const Kind> kinds();

/// What libobs is told of a kind.
[[nodiscard]] obs_source_info source_info(const Kind& kind);

}  // namespace equalux::obs

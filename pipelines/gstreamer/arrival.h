#pragma once

#include <cstdint>
#include <optional>

#include "pipelines/core/frame.h"
#include "pipelines/gstreamer/gst_common.h"

/// When pictures of a live pipeline reach its end, and how many of them nobody took.
namespace equalux::gst {

struct Arrival {
  Clock::time_point time;
  std::uint64_t number = 0;  ///< of the pictures that arrived, from 0; also of those dropped since
};

/// Marks every buffer that reaches the element's sink pad from now on.
void mark_arrivals(GstElement* element);
/// The mark of a buffer; nothing where it has none.
[[nodiscard]] std::optional<Arrival> arrival_of(GstBuffer* buffer);

}  // namespace equalux::gst

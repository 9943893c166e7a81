#pragma once

#include "pipelines/plugin/frame_queue.h"

/// A frame's timings for applications.
namespace equalux::gst {

struct FreeStructure {
  void operator()(GstStructure* structure) const noexcept { gst_structure_free(structure); }
};
using StructurePtr = std::unique_ptr<GstStructure, FreeStructure>;

/// "equalux-timings" with the keys of the program's timings: index, pts_ns, upload_ms, stages (a
/// structure), download_ms, latency_ms, dropped_before. What was not measured is absent; stages of
/// the same name (those of regions) are summed.
[[nodiscard]] StructurePtr timings_structure(const FinishedFrame& frame);

}  // namespace equalux::gst

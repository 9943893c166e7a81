#pragma once

#include "pipelines/plugin/frame_queue.h"

/// A frame's timings for applications.
namespace equalux::gst {

struct FreeStructure {
  void operator()(GstStructure* structure) const noexcept { gst_structure_free(structure); }
};
using StructurePtr = std::unique_ptr<GstStructure, FreeStructure>;

/// Makes "equalux-timings" with the keys of the program's timings: index, pts_ns, upload_ms, stages
/// (a structure), download_ms, latency_ms, dropped_before. Values that were not measured are
/// absent; stages of the same name (those of regions) are summed.
[[nodiscard]] StructurePtr timings_structure(const FinishedFrame& frame);

}  // namespace equalux::gst

#include "pipelines/plugin/timings_structure.h"

#include <string>

namespace equalux::gst {

namespace {

void set_measured(GstStructure* structure, const char* key, const std::optional<double>& ms) {
  if (ms) gst_structure_set(structure, key, G_TYPE_DOUBLE, *ms, nullptr);
}

StructurePtr stages_structure(const std::vector<StageTime>& stages) {
  StructurePtr structure(gst_structure_new_empty("stages"));
  for (const StageTime& each : stages) {
    const std::string name(each.stage);
    double sum = 0;
    static_cast<void>(gst_structure_get_double(structure.get(), name.c_str(), &sum));
    gst_structure_set(structure.get(), name.c_str(), G_TYPE_DOUBLE, sum + each.ms, nullptr);
  }
  return structure;
}

}  // namespace

StructurePtr timings_structure(const FinishedFrame& frame) {
  StructurePtr structure(gst_structure_new("equalux-timings", "index", G_TYPE_UINT64, frame.index,
                                           "pts_ns", G_TYPE_INT64, frame.pts_ns, nullptr));
  const FrameTimings& timings = frame.timings;
  set_measured(structure.get(), "upload_ms", timings.upload_ms);
  if (!timings.stages.empty()) {
    const StructurePtr stages = stages_structure(timings.stages);
    gst_structure_set(structure.get(), "stages", GST_TYPE_STRUCTURE, stages.get(), nullptr);
  }
  set_measured(structure.get(), "download_ms", timings.download_ms);
  set_measured(structure.get(), "latency_ms", timings.latency_ms);
  gst_structure_set(structure.get(), "dropped_before", G_TYPE_UINT64,
                    guint64{timings.dropped_before}, nullptr);
  return structure;
}

}  // namespace equalux::gst

#include "pipelines/core/sink.h"

namespace equalux {
namespace {

class NullSink final : public Sink {
 public:
  void open(const StreamInfo& /*info*/) override {}
  void write(Frame& /*frame*/) override {}
  void finish(Ending /*ending*/) override {}
  bool keeps_orientation(const StreamInfo& /*info*/) const override { return true; }
  std::string why_opaque(const StreamInfo& /*info*/) const override { return {}; }
};

}  // namespace

std::unique_ptr<Sink> make_null_sink() {
  return std::make_unique<NullSink>();
}

}  // namespace equalux

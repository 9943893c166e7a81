#include "pipelines/core/sink.h"

#include "pipelines/core/pace.h"

namespace equalux {
namespace {

class NullSink final : public Sink {
 public:
  explicit NullSink(NullPace pace) : paced_(pace == NullPace::of_times) {}
  void open(const StreamInfo& info) override { paced_ = paced_ && !info.live; }
  void write(Frame& frame) override {
    if (paced_) pace_.wait_for(frame);
  }
  void cancel() noexcept override { pace_.cancel(); }
  void finish(Ending /*ending*/) override {}
  bool keeps_orientation(const StreamInfo& /*info*/) const override { return true; }
  std::string why_opaque(const StreamInfo& /*info*/) const override { return {}; }

 private:
  bool paced_;
  Pace pace_;
};

}  // namespace

std::unique_ptr<Sink> make_null_sink(NullPace pace) {
  return std::make_unique<NullSink>(pace);
}

}  // namespace equalux

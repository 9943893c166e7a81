#include "pipelines/core/part_source.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include <equalux/error.h>

#include "pipelines/core/frame_pool.h"
#include "src/common/formatting.h"
#include "src/common/log.h"

namespace equalux {
namespace {

std::string seconds_text(std::int64_t ns) {
  return fmt::format("{:.3f} s", static_cast<double>(ns) / 1e9);
}

class PartSource final : public Source {
 public:
  PartSource(std::unique_ptr<Source> source, const Part& part)
      : source_(std::move(source)), part_(part) {}

  void offer_device(int device) override { source_->offer_device(device); }
  StreamInfo open(const FormatPredicate& accepts) override;
  bool lends_buffers() const override { return source_->lends_buffers(); }
  bool read(Frame& frame) override;
  void cancel() noexcept override {
    cancelled_ = true;
    source_->cancel();
  }
  std::optional<std::string> shortfall() const override {
    return cut_ ? std::nullopt : source_->shortfall();
  }

 private:
  void find_first();
  void hand_over(Frame& frame);

  std::unique_ptr<Source> source_;
  const Part part_;
  std::string name_;
  std::atomic<bool> cancelled_ = false;
  std::optional<FramePool> pool_;  // for the one frame that open() reads
  FramePtr first_;
  std::int64_t stream_start_ns_ = 0;
  std::int64_t start_ns_ = 0;  // start of the part, on the source's clock
  std::int64_t end_ns_ = 0;    // end of the last frame, from the stream's start
  bool cut_ = false;           // a frame behind the part was seen
};

StreamInfo PartSource::open(const FormatPredicate& accepts) {
  first_.reset();
  cut_ = false;
  StreamInfo info = source_->open(accepts);
  name_ = info.name;
  if (info.live) {
    throw Error(ExitCode::usage, name_ +
                                     ": is live; --from, --to and --duration need an input "
                                     "that has an end, --frames does not");
  }
  pool_.emplace(info.desc, 1, source_->lends_buffers());
  find_first();
  if (!first_) return info;
  info.container_part.shift_ns -= start_ns_;
  info.container_part.cut_start = part_.from_ns > 0;
  info.container_part.cut_end = part_.to_ns.has_value();
  if (part_.to_ns) info.container_part.length_ns = stream_start_ns_ + *part_.to_ns - start_ns_;
  info.frames.reset();
  if (info.duration_ns) {
    const std::int64_t to = std::min(*info.duration_ns, part_.to_ns.value_or(*info.duration_ns));
    info.duration_ns = std::max<std::int64_t>(0, to - part_.from_ns);
  }
  return info;
}

void PartSource::find_first() {
  std::int64_t time = 0;
  for (bool any = false;; any = true) {
    first_.reset();
    first_ = pool_->acquire();
    if (!source_->read(*first_)) break;
    if (!any) stream_start_ns_ = first_->pts_ns;
    time = first_->pts_ns - stream_start_ns_;
    end_ns_ = time + first_->duration_ns;
    if (time < part_.from_ns) {
      if (any) continue;
      first_.reset();
      source_->skip_towards(stream_start_ns_ + part_.from_ns);
      continue;
    }
    start_ns_ = first_->pts_ns;
    if (!part_.to_ns || time < *part_.to_ns) return;
    break;
  }
  first_.reset();
  if (cancelled_) return;
  throw Error(ExitCode::usage, name_ + ": has no frame from " + seconds_text(part_.from_ns) +
                                   (part_.to_ns ? " to " + seconds_text(*part_.to_ns) : " on") +
                                   "; it was read up to " + seconds_text(end_ns_));
}

/// Passes a frame on: borrowed memory changes hands; memory of the pool is copied.
void PartSource::hand_over(Frame& frame) {
  if (lends_buffers()) {
    frame.image = first_->image;
    frame.release = std::exchange(first_->release, nullptr);
    frame.lease = std::exchange(first_->lease, nullptr);
    frame.on_device = first_->on_device;
    frame.alpha = first_->alpha;
  } else {
    copy_image(first_->image, frame.pixels.view());
  }
  frame.place() = *first_;
  first_.reset();
}

bool PartSource::read(Frame& frame) {
  if (cancelled_ || cut_) return false;
  if (first_) {
    hand_over(frame);
  } else if (!source_->read(frame)) {
    if (part_.to_ns && !cancelled_) {
      logger().warn("{}: ends at {}, before {}", name_, seconds_text(end_ns_),
                    seconds_text(*part_.to_ns));
    }
    return false;
  }
  const std::int64_t time = frame.pts_ns - stream_start_ns_;
  cut_ = part_.to_ns && time >= *part_.to_ns;
  end_ns_ = time + frame.duration_ns;
  frame.pts_ns -= start_ns_;
  return !cut_;
}

}  // namespace

std::unique_ptr<Source> make_part_source(std::unique_ptr<Source> source, const Part& part) {
  return std::make_unique<PartSource>(std::move(source), part);
}

}  // namespace equalux

#include "pipelines/picture/upright_sink.h"

#include <utility>

#include "pipelines/picture/alpha_plane.h"
#include "src/common/log.h"

namespace equalux {
namespace {

/// Memory of a turned picture and of the transparency beside it.
struct TurnedMemory {
  Image picture;
  Image alpha;
};

void make_room(Image& memory, const ImageDesc& desc) {
  if (memory.empty() || memory.desc() != desc) memory = Image(desc);
}

ConstImageView turned_into(Image& memory, const ConstImageView& from, Orientation orientation) {
  make_room(memory, turned(from.desc, orientation));
  turn_image(from, memory.view(), orientation);
  return memory.view();
}

/// Turns a frame's picture during its lifetime.
class TurnedPicture {
 public:
  TurnedPicture(Frame& frame, TurnedMemory& memory, Orientation orientation)
      : frame_(frame), image_(frame.image), alpha_(frame.alpha), order_(frame.field_order) {
    frame_.image = turned_into(memory.picture, image_, orientation);
    if (frame.has_alpha_plane()) frame_.alpha = turned_into(memory.alpha, alpha_, orientation);
    frame_.field_order = turned(order_, image_.desc.height, orientation);
  }
  ~TurnedPicture() {
    frame_.image = image_;
    frame_.alpha = alpha_;
    frame_.field_order = order_;
  }
  TurnedPicture(const TurnedPicture&) = delete;
  TurnedPicture& operator=(const TurnedPicture&) = delete;

 private:
  Frame& frame_;
  const ConstImageView image_;
  const ConstImageView alpha_;
  const FieldOrder order_;
};

class UprightSink final : public Sink {
 public:
  explicit UprightSink(std::unique_ptr<Sink> sink) : sink_(std::move(sink)) {}

  void open(const StreamInfo& info) override;
  void write(Frame& frame) override;
  std::string checkpoint() override { return sink_->checkpoint(); }
  void finish(Ending ending) override { sink_->finish(ending); }
  bool needs_main_thread() const override { return sink_->needs_main_thread(); }
  bool wants_original() const override { return sink_->wants_original(); }
  bool wants_frames() const override { return sink_->wants_frames(); }
  bool keeps_orientation(const StreamInfo& info) const override {
    return sink_->keeps_orientation(info);
  }
  std::string why_opaque(const StreamInfo& info) const override { return sink_->why_opaque(info); }
  bool closed() const override { return sink_->closed(); }
  void cancel() noexcept override { sink_->cancel(); }
  void idle() override { sink_->idle(); }
  std::optional<std::string> shortfall() const override { return sink_->shortfall(); }
  std::string summary() const override { return sink_->summary(); }
  std::string name() const override { return sink_->name(); }

 private:
  std::unique_ptr<Sink> sink_;
  Orientation orientation_ = Orientation::upright;
  TurnedMemory result_;
  TurnedMemory original_;
};

void UprightSink::open(const StreamInfo& info) {
  orientation_ = sink_->keeps_orientation(info) ? Orientation::upright : info.orientation;
  if (orientation_ == Orientation::upright) return sink_->open(info);
  StreamInfo upright = info;
  upright.orientation = Orientation::upright;
  upright.desc = turned(info.desc, orientation_);
  upright.field_order = turned(info.field_order, info.desc.height, orientation_);
  upright.chroma_site.clear();  // The position was relative to the unturned samples.
  if (swaps_sides(orientation_)) std::swap(upright.pixel_aspect.num, upright.pixel_aspect.den);
  for (TurnedMemory* memory : {&result_, &original_}) {
    // Originals may have another format than results; then the first frame allocates.
    if (memory == &original_ && !sink_->wants_original()) continue;
    make_room(memory->picture, upright.desc);
    if (info.transparent) make_room(memory->alpha, alpha_desc(upright.desc));
  }
  sink_->open(upright);
  logger().info("{}: its frames are turned, the output does not keep their orientation", info.name);
  if (traits(upright.desc.format).chroma_shift_x < traits(info.desc.format).chroma_shift_x) {
    logger().info("{}: 4:2:2 that is turned by 90 degrees becomes 4:4:4, each chroma value twice",
                  info.name);
  }
  if (upright.field_order == FieldOrder::progressive &&
      info.field_order != FieldOrder::progressive) {
    logger().warn("{}: is interlaced; turned by 90 degrees, its fields lie in columns", info.name);
  }
}

void UprightSink::write(Frame& frame) {
  if (orientation_ == Orientation::upright || frame.unseen) return sink_->write(frame);
  const TurnedPicture result(frame, result_, orientation_);
  if (!frame.original) return sink_->write(frame);
  const TurnedPicture original(*frame.original, original_, orientation_);
  sink_->write(frame);
}

}  // namespace

std::unique_ptr<Sink> make_upright_sink(std::unique_ptr<Sink> sink) {
  return std::make_unique<UprightSink>(std::move(sink));
}

}  // namespace equalux

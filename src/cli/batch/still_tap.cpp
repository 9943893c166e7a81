#include "src/cli/batch/still_tap.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "pipelines/core/convert_rgb.h"
#include "pipelines/core/frame_pool.h"
#include "pipelines/files/still.h"

namespace equalux::cli {
namespace {

/// The frame that is taken where nobody knows how many there are.
constexpr std::uint64_t kUsualNumber = 24;
/// The latest one where it has to be decoded a second time.
constexpr std::uint64_t kLatestOnDevice = 120;

/// The means of the pixels that fall together; never larger than the picture.
Image shrunk(const ConstImageView& frame) {
  if (!converts_to_rgb(frame.desc.format)) return {};
  ImageDesc desc;
  desc.format = PixelFormat::bgr;
  desc.width = frame.desc.width;
  desc.height = frame.desc.height;
  Image whole(desc);
  convert_to_rgb(frame, whole.view());
  const double scale = std::min({1.0, StillTap::kWidth / static_cast<double>(desc.width),
                                 StillTap::kHeight / static_cast<double>(desc.height)});
  ImageDesc small = desc;
  small.width = std::max(1, static_cast<int>(desc.width * scale));
  small.height = std::max(1, static_cast<int>(desc.height * scale));
  Image result(small);
  const ConstImageView from = std::as_const(whole).view();
  const ImageView to = result.view();
  for (int y = 0; y < small.height; ++y) {
    const int top = static_cast<int>(std::int64_t{y} * desc.height / small.height);
    const int bottom = static_cast<int>(std::int64_t{y + 1} * desc.height / small.height);
    for (int x = 0; x < small.width; ++x) {
      const int left = static_cast<int>(std::int64_t{x} * desc.width / small.width);
      const int right = static_cast<int>(std::int64_t{x + 1} * desc.width / small.width);
      const auto pixels = static_cast<std::uint32_t>((bottom - top) * (right - left));
      for (int c = 0; c < 3; ++c) {
        std::uint32_t sum = pixels / 2;
        for (int row = top; row < bottom; ++row) {
          for (int column = left; column < right; ++column)
            sum += from.row(0, row)[3 * column + c];
        }
        to.row(0, y)[3 * x + c] = static_cast<std::uint8_t>(sum / pixels);
      }
    }
  }
  return result;
}

}  // namespace

/// A source that passes everything on.
class TappedSource final : public Source {
 public:
  TappedSource(std::unique_ptr<Source> source, StillTap& tap)
      : source_(std::move(source)), tap_(tap) {}

  void offer_device(int device) override {
    on_device_ = device >= 0;
    source_->offer_device(device);
  }
  StreamInfo open(const FormatPredicate& accepts) override {
    StreamInfo info = source_->open(accepts);
    std::uint64_t frames = info.frames.value_or(2 * kUsualNumber);
    if (tap_.max_frames_ > 0) frames = std::min(frames, tap_.max_frames_);
    tap_.number_ = frames / 2;
    if (on_device_) tap_.number_ = std::min(tap_.number_, kLatestOnDevice);
    tap_.frames_ = 0;
    return info;
  }
  [[nodiscard]] bool lends_buffers() const override { return source_->lends_buffers(); }
  bool read(Frame& frame) override {
    if (!source_->read(frame)) return false;
    const std::uint64_t index = tap_.frames_++;
    if (tap_.looks_at(index) && !frame.on_device) tap_.before_[index] = shrunk(frame.image);
    return true;
  }
  void cancel() noexcept override { source_->cancel(); }
  [[nodiscard]] std::optional<std::string> shortfall() const override {
    return source_->shortfall();
  }

 private:
  std::unique_ptr<Source> source_;
  StillTap& tap_;
  bool on_device_ = false;
};

std::unique_ptr<Source> StillTap::wrap(std::unique_ptr<Source> source) {
  return std::make_unique<TappedSource>(std::move(source), *this);
}

bool StillTap::looks_at(std::uint64_t index) const {
  return index == number_ || (index < number_ && (index == 0 || std::has_single_bit(index)));
}

std::optional<std::uint64_t> StillTap::middle() const {
  const auto distance = [this](std::uint64_t index) {
    return 2 * index > frames_ ? 2 * index - frames_ : frames_ - 2 * index;
  };
  std::optional<std::uint64_t> best;
  for (const auto& [index, still] : after_) {
    if (!still.empty() && (!best || distance(index) < distance(*best))) best = index;
  }
  return best;
}

void StillTap::add_result(const Frame& frame) {
  if (looks_at(frame.index)) after_[frame.index] = shrunk(frame.image);
}

void StillTap::write(const std::string& path,
                     const std::function<std::unique_ptr<Source>()>& software) {
  const std::optional<std::uint64_t> number = middle();
  if (!number) return;
  if (!before_.contains(*number) && *number <= kLatestOnDevice) {
    const std::unique_ptr<Source> source = software();
    const StreamInfo info =
        source->open([](PixelFormat format) { return converts_to_rgb(format); });
    FramePool pool(info.desc, 2, source->lends_buffers());
    for (std::uint64_t index = 0; index <= *number; ++index) {
      FramePtr frame = pool.acquire();
      if (!source->read(*frame)) break;
      if (index == *number) before_[index] = shrunk(frame->image);
    }
  }
  const auto found = before_.find(*number);
  if (found == before_.end() || found->second.empty()) return;
  const ConstImageView left = std::as_const(found->second).view();
  const ConstImageView right = std::as_const(after_.at(*number)).view();
  ImageDesc desc = left.desc;
  desc.width += right.desc.width;
  desc.height = std::min(left.desc.height, right.desc.height);
  Image both(desc);
  for (int y = 0; y < desc.height; ++y) {
    std::uint8_t* row = both.view().row(0, y);
    row = std::copy_n(left.row(0, y), 3 * left.desc.width, row);
    std::copy_n(right.row(0, y), 3 * right.desc.width, row);
  }
  write_still(path, std::as_const(both).view());
}

}  // namespace equalux::cli

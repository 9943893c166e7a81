#include "src/cli/batch/contact_sheet.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <utility>

#include "pipelines/core/frame_pool.h"
#include "pipelines/files/still.h"
#include "pipelines/picture/convert_rgb.h"
#include "src/cli/batch/state.h"
#ifdef EQUALUX_HAVE_OPENCV
#include "pipelines/opencv/caption.h"
#endif

namespace equalux::cli {
namespace {

/// Frame taken where the number of frames is unknown.
constexpr std::uint64_t kUsualNumber = 24;
/// Limit where the frame has to be decoded a second time.
constexpr std::uint64_t kLatestOnDevice = 120;

/// Scales down by means over boxes of pixels, rounded half up; never enlarges.
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

/// Source that passes everything on, and keeps stills for a StillTap.
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
    tap_.number_ = std::max(tap_.number_, tap_.first_);
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

// ---- the sheet ----

#ifdef EQUALUX_HAVE_OPENCV

namespace {

constexpr int kColumns = 2;
constexpr int kGap = 12;
constexpr int kCaption = 22;
constexpr int kCellWidth = 2 * StillTap::kWidth;
constexpr int kCellHeight = StillTap::kHeight + kCaption;
/// Most stills on a sheet; of more, every n-th is shown.
constexpr std::size_t kMostCells = 120;
constexpr std::uint8_t kPaper = 32;

struct Cell {
  Image pair;
  std::string caption;
};

std::vector<Cell> read_cells(const std::vector<Outcome>& outcomes, const std::string& out) {
  std::vector<Cell> cells;
  const std::size_t step = (outcomes.size() + kMostCells - 1) / kMostCells;
  for (std::size_t i = 0; i < outcomes.size(); i += std::max<std::size_t>(1, step)) {
    const Outcome& outcome = outcomes[i];
    const bool shown = outcome.result &&
                       (outcome.result->status == "done" || outcome.result->status == "partial" ||
                        outcome.result->status == "skipped");
    const std::string still = state_paths(out, outcome.job.output).still;
    std::error_code ignored;
    if (!shown || !std::filesystem::exists(still, ignored)) continue;
    try {
      Cell cell{read_still(still),
                std::filesystem::path(outcome.job.output)
                    .lexically_relative(std::filesystem::path(out).lexically_normal())
                    .string()};
      if (outcome.result->status == "partial") cell.caption += " (partial)";
      cells.push_back(std::move(cell));
    } catch (const Error&) {
      continue;  // a damaged still is left out
    }
  }
  return cells;
}

void draw(const Cell& cell, int left, int top, const ImageView& sheet) {
  const ConstImageView pair = cell.pair.view();
  const int width = std::min(pair.desc.width, kCellWidth);
  const int height = std::min(pair.desc.height, StillTap::kHeight);
  const int x0 = left + (kCellWidth - width) / 2;
  const int y0 = top + (StillTap::kHeight - height) / 2;
  const bool is_rgb = pair.desc.format == PixelFormat::rgb;
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* from = pair.row(0, y);
    std::uint8_t* to = std::copy_n(from, 3 * width, sheet.row(0, y0 + y) + 3 * x0) - 3 * width;
    for (int x = 0; is_rgb && x < width; ++x)
      std::swap(to[3 * x], to[3 * x + 2]);
  }
  draw_caption(sheet, left, top + StillTap::kHeight + kCaption - 7, kCellWidth, cell.caption);
}

}  // namespace

bool write_contact_sheet(const std::string& path, const std::vector<Outcome>& outcomes,
                         const std::string& out) {
  const std::vector<Cell> cells = read_cells(outcomes, out);
  if (cells.empty() || !knows_still(path)) return false;
  const int columns = std::min(kColumns, static_cast<int>(cells.size()));
  const int rows = (static_cast<int>(cells.size()) + columns - 1) / columns;
  ImageDesc desc;
  desc.format = PixelFormat::bgr;
  desc.width = kGap + columns * (kCellWidth + kGap);
  desc.height = kGap + rows * (kCellHeight + kGap);
  Image picture(desc);
  const ImageView view = picture.view();
  for (int y = 0; y < desc.height; ++y)
    std::fill_n(view.row(0, y), 3 * desc.width, kPaper);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const int column = static_cast<int>(i) % columns;
    const int row = static_cast<int>(i) / columns;
    draw(cells[i], kGap + column * (kCellWidth + kGap), kGap + row * (kCellHeight + kGap), view);
  }
  write_still(path, std::as_const(picture).view());
  return true;
}

#else

bool write_contact_sheet(const std::string&, const std::vector<Outcome>&, const std::string&) {
  return false;
}

#endif

}  // namespace equalux::cli

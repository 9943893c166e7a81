#include "pipelines/files/image_pattern.h"

#include <array>
#include <atomic>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <equalux/error.h>

#include "pipelines/core/frame_time.h"
#include "pipelines/files/partial_file.h"
#include "pipelines/files/still.h"
#include "pipelines/picture/alpha_plane.h"
#include "pipelines/picture/convert_rgb.h"
#include "src/common/log.h"
#include "src/common/size_text.h"

namespace equalux {
namespace {

void release_image(void* image) {
  delete static_cast<Image*>(image);
}

/// Chooses the image's own format if the filters take it, else an RGB format that loses nothing.
PixelFormat choose_format(PixelFormat own, const FormatPredicate& accepts,
                          const std::string& name) {
  constexpr std::array kOthers{PixelFormat::bgra, PixelFormat::rgba, PixelFormat::bgr,
                               PixelFormat::rgb};
  if (accepts(own)) return own;
  if (has_deep_samples(own)) {
    const int depth = traits(own).depth;
    throw Error(ExitCode::usage, name + ": the images have " + std::to_string(depth) +
                                     " bits a sample; the filters take " +
                                     bits_taken_below(traits(own).model, depth, accepts) +
                                     ", convert them first");
  }
  const bool alpha = traits(own).alpha_offset >= 0;
  for (const PixelFormat format : kOthers) {
    if ((traits(format).alpha_offset >= 0) == alpha && accepts(format)) return format;
  }
  for (const PixelFormat format : kOthers) {
    if (accepts(format)) return format;
  }
  throw Error(ExitCode::usage, name + ": the filters take neither gray nor RGB frames");
}

/// Reads a still from a regular file; opening a named pipe would wait, and nothing could end that
/// wait.
Image read_file(const std::string& path, StillNotes& notes) {
  std::error_code ignored;
  if (std::filesystem::is_fifo(path, ignored)) {
    throw Error(ExitCode::bad_input,
                path + ": is a named pipe in a sequence of images; all must be files");
  }
  return read_still(path, notes);
}

class ImageSource final : public Source {
 public:
  ImageSource(std::string text, Rational frame_rate)
      : text_(std::move(text)), frame_rate_(frame_rate) {}

  StreamInfo open(const FormatPredicate& accepts) override {
    std::vector<std::string> half_written;
    paths_ = list_images(text_, &half_written);
    if (!std::exchange(listing_said_, true)) describe_listing(half_written);
    first_ = read_file(paths_.front(), first_notes_);
    StillNotes of_content = first_notes_;
    of_content.dots_per_inch_x = of_content.dots_per_inch_y = 0;
    notes_ = std::make_shared<NotesInTransit>(contents_of(of_content));
    StreamInfo info;
    info.name = text_;
    info.desc = first_.desc();
    info.desc.format = choose_format(info.desc.format, accepts, text_);
    info.frame_rate = frame_rate_;
    info.frames = paths_.size();
    info.duration_ns = frame_time_ns(paths_.size(), frame_rate_);
    info.still_notes = notes_;
    desc_ = info.desc;
    return info;
  }

  [[nodiscard]] bool lends_buffers() const override { return true; }

  bool read(Frame& frame) override {
    if (cancelled_ || next_ == paths_.size()) return false;
    const std::string& path = paths_[next_];
    StillNotes notes = std::move(first_notes_);
    Image still = next_ == 0 ? std::move(first_) : read_file(path, notes);
    if (paths_.size() == 1) pages_ = notes.pages;
    if (notes.pages > 1 && paths_.size() > 1 && !std::exchange(pages_said_, true)) {
      logger().warn("{}: holds {} pages or frames, only the first is read", path, notes.pages);
    }
    auto image = std::make_unique<Image>(fitted(std::move(still), path));
    frame.image = std::as_const(*image).view();
    frame.lease = image.release();
    frame.release = &release_image;
    frame.pts_ns = frame_time_ns(next_, frame_rate_);
    frame.duration_ns = frame_time_ns(next_ + 1, frame_rate_) - frame.pts_ns;
    notes_->put(next_, std::move(notes));
    ++next_;
    return true;
  }

  void cancel() noexcept override { cancelled_ = true; }

  /// A file that was named alone is expected to be complete; in a sequence, each file is one frame.
  [[nodiscard]] std::optional<std::string> shortfall() const override {
    if (pages_ < 2) return std::nullopt;
    return text_ + " holds " + std::to_string(pages_) + " pages or frames, only the first is read";
  }

 private:
  void describe_listing(const std::vector<std::string>& half_written) const {
    const std::string missing = missing_numbers(text_, paths_);
    if (!missing.empty()) {
      logger().warn("{}: has no number {}; the stills that are there follow each other", text_,
                    missing);
    }
    if (!half_written.empty()) {
      logger().warn("{}: {} half-written still{} left out, the first is {}", text_,
                    half_written.size(), half_written.size() == 1 ? " is" : "s are",
                    half_written.front());
    }
  }

  [[nodiscard]] Image fitted(Image still, const std::string& path) const {
    const ImageDesc& desc = still.desc();
    if (desc.width != desc_.width || desc.height != desc_.height) {
      throw Error(ExitCode::bad_input, path + ": is " + size_text(desc) + " in a sequence of " +
                                           size_text(desc_) + " images; all must have one size");
    }
    if (desc.format == desc_.format) return still;
    if (traits(desc.format).depth != traits(desc_.format).depth) {
      throw Error(ExitCode::bad_input, path + ": has " + std::to_string(traits(desc.format).depth) +
                                           " bits a sample in a sequence of " +
                                           std::to_string(traits(desc_.format).depth) +
                                           "; all must have as many");
    }
    if (traits(desc_.format).model == ColorModel::gray) {
      throw Error(ExitCode::bad_input, path +
                                           ": is a colour image in a sequence of gray ones; "
                                           "all must be gray, or the first in colour");
    }
    Image converted(desc_);
    convert_to_rgb(still.view(), converted.view());
    return converted;
  }

  std::string text_;
  Rational frame_rate_;
  std::vector<std::string> paths_;
  Image first_;  // already read by open()
  StillNotes first_notes_;
  std::shared_ptr<NotesInTransit> notes_;
  std::uint32_t pages_ = 1;  // of the only file
  bool pages_said_ = false;
  bool listing_said_ = false;
  ImageDesc desc_;
  std::size_t next_ = 0;
  std::atomic<bool> cancelled_{false};
};

class ImageSink final : public Sink {
 public:
  explicit ImageSink(std::string pattern) : pattern_(std::move(pattern)) {}

  void open(const StreamInfo& info) override {
    name_ = NumberedName::parse(pattern_);
    if (!name_) {
      throw Error(ExitCode::usage, pattern_ + ": must hold one number, such as frames/%05d.png");
    }
    if (!writes_still(pattern_)) {
      throw Error(ExitCode::usage, pattern_ +
                                       ": image format is not known; must be .ppm, .pgm"
                                       " or one that this build writes, such as .png");
    }
    check_format(info);
    notes_ = info.still_notes;
    const std::string folder = name_->folder();
    std::error_code ignored;
    if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
      throw Error(ExitCode::cannot_create,
                  pattern_ + ": cannot be created: no such folder; make " + folder + " first");
    }
    lock_.emplace(lock_path(pattern_), pattern_);
    const Rational aspect = info.pixel_aspect;
    if (aspect.num > 0 && aspect.den > 0 && aspect.num != aspect.den) {
      logger().warn("{}: stills have square pixels, those of the input are {}:{}", pattern_,
                    aspect.num, aspect.den);
    }
  }

  void write(Frame& frame) override {
    if (!rgb_.empty()) convert_to_rgb(frame.image, rgb_.view(), frame.field_order);
    if (frame.has_alpha_plane() && has_alpha(rgb_.desc().format)) {
      put_alpha(frame.alpha, traits(frame.image.desc.format).depth, rgb_.view());
    }
    const ConstImageView image = rgb_.empty() ? frame.image : std::as_const(rgb_).view();
    const std::string name = name_->at(written_);
    const std::string lost =
        write_still(name, image, notes_ ? notes_->take(frame.index) : StillNotes{}, {});
    if (!lost.empty() && !std::exchange(loss_said_, true)) {
      logger().warn("{}: does not keep the input's {}, nor do those after it", name, lost);
    }
    ++written_;
  }

  void finish(Ending ending) override {
    std::error_code ignored;
    while (ending == Ending::failed && written_ > 0)
      std::filesystem::remove(name_->at(--written_), ignored);
    lock_.reset();
  }

  [[nodiscard]] std::string why_opaque(const StreamInfo& /*info*/) const override {
    if (still_holds_alpha(pattern_)) return {};
    return std::filesystem::path(pattern_).extension().string() + " holds none; .png does";
  }

  [[nodiscard]] std::string name() const override { return pattern_; }

 private:
  void check_format(const StreamInfo& info) {
    check_still_format(pattern_, info.desc.format);
    const bool yuv = traits(info.desc.format).model == ColorModel::yuv;
    const bool holds = still_holds_alpha(pattern_);
    if (!yuv && (holds || !has_alpha(info.desc.format))) return;
    ImageDesc rgb = info.desc;
    rgb.format = bgr_of_depth(info.desc.format);
    if (info.transparent && holds) {
      const bool deep = has_deep_samples(info.desc.format);
      rgb.format = deep ? PixelFormat::bgra64_le : PixelFormat::bgra;
    }
    rgb_ = Image(rgb);
  }

  std::string pattern_;
  std::optional<NumberedName> name_;
  std::optional<OutputLock> lock_;
  std::shared_ptr<NotesInTransit> notes_;
  bool loss_said_ = false;
  Image rgb_;  // for YCbCr frames, or for transparency that the stills cannot have
  std::uint64_t written_ = 0;
};

}  // namespace

std::unique_ptr<Source> make_image_source(const std::string& text, Rational frame_rate) {
  return std::make_unique<ImageSource>(text, frame_rate);
}

std::unique_ptr<Sink> make_image_sink(const std::string& pattern) {
  return std::make_unique<ImageSink>(pattern);
}

}  // namespace equalux

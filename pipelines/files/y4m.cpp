#include "pipelines/files/y4m.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <equalux/error.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipelines/core/frame_time.h"
#include "pipelines/files/descriptor_io.h"
#include "pipelines/files/partial_file.h"
#include "pipelines/files/y4m_header.h"
#include "pipelines/picture/convert_rgb.h"
#include "pipelines/picture/paired_chroma.h"
#include "src/common/formatting.h"
#include "src/common/log.h"
#include "src/common/system_error.h"
#include "src/format/layout.h"
#include "src/options/option_values.h"

namespace equalux {
namespace {

constexpr std::string_view kFrameLine = "FRAME\n";

bool is_named_pipe(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

Descriptor open_input(const std::string& path) {
  if (path == "-") {
    if (::isatty(STDIN_FILENO) == 1) {
      throw Error(ExitCode::no_input, "standard input is a terminal; pipe YUV4MPEG2 video in");
    }
    const int mode = ::fcntl(STDIN_FILENO, F_GETFL);
    if (mode < 0 || (mode & O_ACCMODE) == O_WRONLY) {
      throw Error(ExitCode::no_input, "standard input is closed; pipe YUV4MPEG2 video in");
    }
    return {STDIN_FILENO, false};
  }
  // Non-blocking, because opening a named pipe would wait for its writer, and nothing could end
  // that wait; a wait in read() can be ended.
  const int at_once = is_named_pipe(path) ? O_NONBLOCK : 0;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | at_once);
  if (descriptor >= 0) return {descriptor, true};
  throw Error(ExitCode::no_input, path + ": cannot be opened: " + system_error_text(errno) +
                                      "; must be a readable file");
}

class Y4mSource final : public Source {
 public:
  explicit Y4mSource(std::string path)
      : path_(std::move(path)), name_(path_ == "-" ? "standard input" : path_) {}

  StreamInfo open(const FormatPredicate& accepts) override {
    reader_.emplace(open_input(path_), name_, cancel_);
    std::string line;
    if (!reader_->read_line(line, kY4mHeaderLimit) && line.empty()) {
      throw Error(ExitCode::bad_input, name_ + ": is empty; must be YUV4MPEG2 video");
    }
    StreamInfo info = parse_y4m_header(line, name_);
    stream_ = info.desc;
    rate_ = info.frame_rate;
    field_order_ = info.field_order;
    count_frames(info, line.size() + 1);
    info.desc.format = choose_format(accepts);
    if (info.desc.format != stream_.format) unconverted_ = Image(stream_);
    return info;
  }

  bool read(Frame& frame) override {
    const bool whole_line = reader_->read_line(line_, kY4mFrameLineLimit);
    if (cancel_.is_set() || (!whole_line && line_.empty())) return false;
    frame.field_order = parse_y4m_frame_line(line_, field_order_, name_);
    const ImageView pixels = unconverted_.empty() ? frame.pixels.view() : unconverted_.view();
    const std::size_t got = read_planes(pixels);
    if (cancel_.is_set()) return false;
    if (got < tight_bytes(stream_)) {
      shortfall_ = "ends in frame " + std::to_string(count_) + " after " + std::to_string(got) +
                   " of its " + std::to_string(tight_bytes(stream_)) + " bytes";
      return false;
    }
    if (!unconverted_.empty()) convert_to_rgb(pixels, frame.pixels.view(), frame.field_order);
    frame.pts_ns = frame_time_ns(count_, rate_);
    frame.duration_ns = frame_time_ns(count_ + 1, rate_) - frame.pts_ns;
    ++count_;
    return true;
  }

  void cancel() noexcept override { cancel_.set(); }

  [[nodiscard]] std::optional<std::string> shortfall() const override { return shortfall_; }

 private:
  PixelFormat choose_format(const FormatPredicate& accepts) const {
    if (accepts(stream_.format)) return stream_.format;
    if (has_deep_samples(stream_.format)) {
      const int depth = traits(stream_.format).depth;
      throw Error(ExitCode::usage,
                  name_ + ": is " + std::to_string(depth) + "-bit video; the filters take " +
                      bits_taken_below(traits(stream_.format).model, depth, accepts) +
                      ", convert it first");
    }
    for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::rgb}) {
      if (accepts(format)) return format;
    }
    throw Error(ExitCode::usage, name_ + ": the filters take neither " +
                                     std::string(to_string(stream_.format)) + " nor RGB frames" +
                                     (accepts(PixelFormat::gray8) ? ", must be gray" : ""));
  }

  /// Computes the expected number of frames from the file's size; a pipe has none.
  void count_frames(StreamInfo& info, std::size_t header_bytes) const {
    struct stat status {};
    if (path_ == "-" || ::stat(path_.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    const std::size_t frame_bytes = tight_bytes(stream_) + kFrameLine.size();
    const auto file_bytes = static_cast<std::size_t>(status.st_size);
    if (file_bytes < header_bytes) return;
    info.frames = (file_bytes - header_bytes) / frame_bytes;
    info.duration_ns = frame_time_ns(*info.frames, rate_);
  }

  /// Returns the number of bytes read.
  std::size_t read_planes(const ImageView& pixels) {
    std::size_t total = 0;
    for (int plane = 0; plane < traits(stream_.format).planes; ++plane) {
      const std::size_t row = row_bytes(stream_, plane);
      const int rows = plane_rows(stream_, plane);
      // Tight planes are read directly, without a copy.
      const bool tight =
          pixels.stride[static_cast<std::size_t>(plane)] == static_cast<std::ptrdiff_t>(row);
      const std::size_t piece = tight ? row * static_cast<std::size_t>(rows) : row;
      for (int y = 0; y < (tight ? 1 : rows); ++y) {
        const std::size_t got = reader_->read(pixels.row(plane, y), piece);
        total += got;
        if (got < piece) return total;
      }
    }
    return total;
  }

  std::string path_;  // "-" = standard input
  std::string name_;  // for messages
  Wakeup cancel_;
  std::optional<DescriptorReader> reader_;
  ImageDesc stream_;
  Rational rate_;
  FieldOrder field_order_ = FieldOrder::progressive;
  Image unconverted_;  // for frames that must become RGB
  std::string line_;
  std::uint64_t count_ = 0;
  std::optional<std::string> shortfall_;
};

/// Returns the format in which a frame is written: packed formats become planar, no sample changes.
ImageDesc planar_desc(ImageDesc desc) {
  if (desc.format == PixelFormat::nv12) desc.format = PixelFormat::i420;
  if (desc.format == PixelFormat::yuy2 || desc.format == PixelFormat::uyvy) {
    desc.format = PixelFormat::y42b;
  }
  desc.format = planar_form(desc.format);
  return desc;
}

/// Copies the bytes of each row; returns the end of `out`.
std::uint8_t* put_rows(std::uint8_t* out, const Samples<const std::uint8_t>& bytes) {
  const auto count = static_cast<std::size_t>(bytes.columns);
  for (int y = 0; y < bytes.rows; ++y, out += count) {
    const std::uint8_t* row = bytes.row(y);
    if (bytes.step == 1) {
      std::memcpy(out, row, count);
    } else {
      for (std::size_t i = 0; i < count; ++i, row += bytes.step)
        out[i] = *row;
    }
  }
  return out;
}

/// Describes planes that follow one another without padding, from `first` on.
ImageView tight_view(const ImageDesc& desc, std::uint8_t* first) {
  ImageView view{desc, {}, {}};
  for (int plane = 0; plane < traits(desc.format).planes; ++plane) {
    const auto p = static_cast<std::size_t>(plane);
    const std::size_t row = row_bytes(desc, plane);
    view.data[p] = first;
    view.stride[p] = static_cast<std::ptrdiff_t>(row);
    first += row * static_cast<std::size_t>(plane_rows(desc, plane));
  }
  return view;
}

std::uint8_t* put_planar(std::uint8_t* out, const ConstImageView& view) {
  const ImageDesc& desc = view.desc;
  if (planar_form(desc.format) != desc.format) {
    const ImageView planes = tight_view(planar_desc(desc), out);
    copy_as_planes(view, planes);
    return out + tight_bytes(planes.desc);
  }
  if (has_byte_samples(desc.format)) {
    const int components = traits(desc.format).model == ColorModel::yuv ? 3 : 1;
    for (int c = 0; c < components; ++c)
      out = put_rows(out, samples_of(view, c));
    return out;
  }
  for (int plane = 0; plane < traits(desc.format).planes; ++plane) {
    const auto p = static_cast<std::size_t>(plane);
    out = put_rows(out, {view.data[p], view.stride[p], static_cast<int>(row_bytes(desc, plane)),
                         plane_rows(desc, plane)});
  }
  return out;
}

class Y4mSink final : public Sink {
 public:
  Y4mSink(std::string path, std::string resume)
      : path_(std::move(path)), resume_(std::move(resume)) {}

  void open(const StreamInfo& info) override {
    rate_ = info.live ? Rational{0, 1} : info.frame_rate;
    const std::string header = format_y4m_header(info, path_);
    ignore_broken_pipes();
    if (path_ == "-") {
      if (::isatty(STDOUT_FILENO) == 1) {
        throw Error(ExitCode::usage, "-: standard output is a terminal; pipe the video elsewhere");
      }
      writer_.emplace(reopen_nonblocking(STDOUT_FILENO, O_WRONLY), path_, cancel_);
    } else if (is_named_pipe(path_)) {
      writer_.emplace(wait_for_reader(), path_, cancel_);
    } else {
      if (resume_.empty()) {
        file_.emplace(path_);
      } else {
        bytes_ = bytes_before();
        file_.emplace(path_, bytes_);
      }
      writer_.emplace(Descriptor(file_->descriptor(), false), path_, cancel_);
    }
    if (resume_.empty()) {
      writer_->write(header.data(), header.size());
      bytes_ = header.size();
    }
    buffer_.resize(kFrameLine.size() + tight_bytes(planar_desc(info.desc)));
    std::memcpy(buffer_.data(), kFrameLine.data(), kFrameLine.size());
  }

  void write(Frame& frame) override {
    check_time(frame);
    put_planar(buffer_.data() + kFrameLine.size(), frame.image);
    writer_->write(buffer_.data(), buffer_.size());
    bytes_ += buffer_.size();
  }

  std::string checkpoint() override { return file_ ? std::to_string(bytes_) : std::string(); }

  void finish(Ending ending) override {
    writer_.reset();
    if (file_ && ending == Ending::suspended) {
      file_->keep();
    } else if (file_ && ending != Ending::failed) {
      file_->commit();
    }
    file_.reset();
  }

  void cancel() noexcept override { cancel_.set(); }

  [[nodiscard]] std::string name() const override { return path_; }

 private:
  /// Warns, once, where a frame's time is more than a frame's duration from its time at the rate of
  /// the header. The frames of live inputs never have exact times.
  void check_time(const Frame& frame) {
    if (rate_.num <= 0) return;
    if (!first_pts_ns_) first_pts_ns_ = frame.pts_ns;
    const std::int64_t time_ns = frame_time_ns(count_++, rate_);
    if (std::abs(frame.pts_ns - *first_pts_ns_ - time_ns) <= frame_time_ns(1, rate_)) return;
    logger().warn(
        "{}: has one rate, {:.5g} frames a second; the input's times differ and are lost, .mkv "
        "keeps them",
        path_ == "-" ? "standard output" : path_, rate_.value());
    rate_ = {0, 1};
  }

  /// Opens a named pipe as soon as a reader has opened it.
  [[nodiscard]] Descriptor wait_for_reader() const {
    constexpr int kLookMs = 20;
    while (!cancel_.is_set()) {
      const int descriptor = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
      if (descriptor >= 0) return {descriptor, true};
      if (errno != ENXIO) {
        throw Error(ExitCode::cannot_create,
                    path_ + ": cannot be opened: " + system_error_text(errno));
      }
      pollfd cancelled{cancel_.descriptor(), POLLIN, 0};
      static_cast<void>(::poll(&cancelled, 1, kLookMs));
    }
    throw Error(ExitCode::write_failed, path_ + ": write failed: nobody reads it");
  }

  [[nodiscard]] std::uint64_t bytes_before() const {
    const std::uint64_t bytes = number_from<std::uint64_t>(resume_).value_or(0);
    if (bytes > 0) return bytes;
    throw CannotResume(path_ + ": what was noted of its size is damaged");
  }

  static void ignore_broken_pipes() {
    struct sigaction current {};
    if (::sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL) {
      static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
    }
  }

  std::string path_;
  std::string resume_;
  std::uint64_t bytes_ = 0;  // of the header and complete frames
  Rational rate_{0, 1};      // that times are compared with; 0 = they are not
  std::optional<std::int64_t> first_pts_ns_;
  std::uint64_t count_ = 0;  // of frames since first_pts_ns_
  Wakeup cancel_;
  std::optional<PartialFile> file_;
  std::optional<DescriptorWriter> writer_;
  std::vector<std::uint8_t> buffer_;  // a frame as it is written, with its FRAME line
};

}  // namespace

std::unique_ptr<Source> make_y4m_source(const std::string& path) {
  return std::make_unique<Y4mSource>(path);
}

std::unique_ptr<Sink> make_y4m_sink(const std::string& path, const std::string& resume) {
  return std::make_unique<Y4mSink>(path, resume);
}

}  // namespace equalux

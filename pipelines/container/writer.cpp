#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <equalux/error.h>
#include <unistd.h>

#include "container.h"
#include "log.h"
#include "open_input.h"
#include "output_pass.h"

namespace equalux {
namespace {

namespace fs = std::filesystem;

/// out.mp4 -> out.<infix>.mp4
std::string beside(const std::string& path, const char* infix) {
  fs::path name(path);
  const fs::path extension = name.extension();
  name.replace_extension();
  name += std::string(".") + infix;
  name += extension;
  return name.string();
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code failure;
  return fs::equivalent(a, b, failure) && !failure;
}

void check_folder(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) {
    throw Error(ExitCode::cannot_create,
                path + ": its folder does not exist; create " + folder + " first");
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    throw Error(ExitCode::cannot_create,
                path + ": its folder cannot be written to: " + std::strerror(errno));
  }
  if (fs::is_directory(path, failure)) {
    throw Error(ExitCode::cannot_create, path + ": is a folder; give the name of a file");
  }
}

/// What the final pass must know of the video to give it back its own times.
struct VideoRecord {
  std::uint64_t packets = 0;
  std::int64_t first_dts = 0;
  std::int64_t first_pts = 0;
  std::int64_t last_pts = std::numeric_limits<std::int64_t>::min();  ///< the latest of all
  std::int64_t latest_duration = 0;  ///< of the packet with that pts
  std::int64_t last_duration = 0;    ///< of the packet that came last

  void add(const AVPacket& packet) {
    if (packets++ == 0) {
      first_dts = packet.dts;
      first_pts = packet.pts;
    }
    first_pts = std::min(first_pts, packet.pts);
    last_duration = packet.duration;
    if (packet.pts > last_pts) {
      last_pts = packet.pts;
      latest_duration = packet.duration;
    }
  }
  [[nodiscard]] std::int64_t end() const { return last_pts + latest_duration; }
};

class Writer final : public ContainerWriter {
 public:
  explicit Writer(const ContainerWriterOptions& options)
      : options_(options),
        kind_(container_kind(options.output_path)),
        partial_(beside(options.output_path, "partial")) {}

  void check(const std::string& codec) override;
  void start(const EncodedVideoFormat& video) override;
  void write(const EncodedPacket& packet) override;
  void finish(bool cut_at_video_end) override;
  void abandon() noexcept override;
  [[nodiscard]] std::vector<std::string> dropped_streams() const override { return plan_.dropped; }

 private:
  void check_paths() const;
  void open_copies();
  [[nodiscard]] PacketPtr convert(const EncodedPacket& packet);
  [[nodiscard]] std::int64_t usual_duration() const;
  void write_held(std::optional<std::int64_t> next_dts);
  void remake(const std::string& path, std::optional<std::int64_t> end_ns);
  void replay(AVFormatContext& partial, OutputPass& pass) const;

  const ContainerWriterOptions options_;
  const ContainerKind kind_;
  const std::string partial_;
  StreamPlan plan_;
  EncodedVideoFormat video_;
  std::unique_ptr<StreamCopy> copies_;
  std::unique_ptr<OutputPass> pass_;
  AVRational base_{1, 1};
  int partial_video_index_ = 0;
  MonotonicDts times_;
  PacketPtr held_;  // until the next one tells how long it lasts
  VideoRecord record_;
  bool created_ = false;
  bool keep_partial_ = false;
};

void Writer::check_paths() const {
  if (!options_.copy_from.empty()) {
    check_readable(options_.copy_from);
    for (const std::string& path : {options_.output_path, partial_}) {
      if (same_file(options_.copy_from, path)) {
        throw Error(ExitCode::usage, options_.output_path + ": is the input itself" +
                                         (path == partial_ ? " while it is written" : "") +
                                         "; give another output");
      }
    }
  }
  check_folder(options_.output_path);
}

void Writer::open_copies() {
  plan_ = {};
  plan_.kind = kind_;
  copies_.reset();
  if (options_.copy_from.empty()) return;
  copies_ = std::make_unique<StreamCopy>(options_.copy_from);
  try {
    plan_ = plan_streams(copies_->input(), kind_, options_.drop_streams);
  } catch (const Error& error) {
    throw Error(error.code(), options_.copy_from + ": " + error.what());
  }
}

void Writer::check(const std::string& codec) {
  check_paths();
  check_video_codec(codec, kind_);
  open_copies();
}

void Writer::start(const EncodedVideoFormat& video) {
  if (!copies_) {
    check(video.codec);
  }
  video_ = video;
  if (copies_) copies_->select(plan_);
  OutputPassSpec spec{
      partial_, is_iso(kind_) ? PassKind::live : PassKind::final, plan_, video_, {}};
  created_ = true;
  pass_ = std::make_unique<OutputPass>(spec, copies_.get());
  base_ = pass_->video_base();
  partial_video_index_ = pass_->video_index();
  times_ = MonotonicDts(is_iso(kind_) ? 1 : 0);
}

PacketPtr Writer::convert(const EncodedPacket& packet) {
  PacketPtr converted = make_packet();
  if (packet.data.size() > std::numeric_limits<int>::max() - AV_INPUT_BUFFER_PADDING_SIZE ||
      av_new_packet(converted.get(), static_cast<int>(packet.data.size())) < 0) {
    throw std::bad_alloc();
  }
  if (!packet.data.empty()) {
    std::memcpy(converted->data, packet.data.data(), packet.data.size());
  }
  converted->pts = rescale(packet.pts_ns, kNanoseconds, base_);
  converted->dts = rescale(packet.dts_ns, kNanoseconds, base_);
  converted->duration = rescale(packet.duration_ns, kNanoseconds, base_);
  if (packet.keyframe) converted->flags |= AV_PKT_FLAG_KEY;
  times_.fix(*converted);
  return converted;
}

void Writer::write(const EncodedPacket& packet) {
  PacketPtr next = convert(packet);
  if (held_) write_held(next->dts);
  held_ = std::move(next);
}

/// For a packet whose encoder gave none: a frame's at the usual rate.
std::int64_t Writer::usual_duration() const {
  const AVRational rate = to_av(video_.frame_rate);
  if (rate.num > 0) return std::max<std::int64_t>(1, av_rescale_q(1, av_inv_q(rate), base_));
  const std::uint64_t steps = record_.packets > 1 ? record_.packets - 1 : 0;
  if (steps > 0) {
    return std::max<std::int64_t>(
        1, (record_.last_pts - record_.first_pts) / static_cast<std::int64_t>(steps));
  }
  return std::max(1, base_.den / 25);
}

void Writer::write_held(std::optional<std::int64_t> next_dts) {
  if (held_->duration <= 0) held_->duration = usual_duration();
  record_.add(*held_);
  // A fragment ends where its last packet says; only the distance to the next one keeps the times.
  if (is_iso(kind_) && next_dts) held_->duration = *next_dts - held_->dts;
  pass_->write_video(*held_);
  held_.reset();
}

void Writer::finish(bool cut_at_video_end) {
  if (!pass_) throw Error(ExitCode::write_failed, options_.output_path + ": nothing was encoded");
  if (held_) write_held(std::nullopt);
  std::optional<std::int64_t> end_ns;
  if (cut_at_video_end) {
    end_ns = record_.packets > 0 ? rescale(record_.end(), base_, kNanoseconds) : 0;
  }
  std::string whole = partial_;
  if (is_iso(kind_)) {
    pass_->close();
    pass_.reset();
    keep_partial_ = record_.packets > 0;
    whole = beside(options_.output_path, "closing.partial");
    remake(whole, end_ns);
  } else {
    pass_->finish(end_ns);
    pass_.reset();
  }
  std::error_code failure;
  fs::rename(whole, options_.output_path, failure);
  if (failure) {
    throw Error(ExitCode::write_failed, options_.output_path + ": cannot be given its name: " +
                                            failure.message() + "; it is left as " + whole);
  }
  if (whole != partial_) fs::remove(partial_, failure);
  created_ = false;
}

/// Fragments lose chapters, cover art and the exact ends of tracks. So the plain file takes only
/// the video from them, and everything else from the input once more.
void Writer::remake(const std::string& path, std::optional<std::int64_t> end_ns) {
  try {
    if (copies_) {
      copies_ = std::make_unique<StreamCopy>(options_.copy_from);
      copies_->select(plan_);
    }
    InputContext partial;
    if (record_.packets > 0) {
      partial = open_input(partial_);
      // Fragments hold what was a byte stream as length-prefixed units, under a head of their own.
      const AVCodecParameters& codec = *partial->streams[partial_video_index_]->codecpar;
      const auto* head = reinterpret_cast<const std::byte*>(codec.extradata);
      video_.codec_data.assign(head, head + codec.extradata_size);
    }
    OutputPass pass({path, PassKind::final, plan_, video_, record_.first_pts}, copies_.get());
    if (partial) replay(*partial, pass);
    pass.finish(end_ns);
  } catch (const Error& error) {
    std::error_code ignored;
    fs::remove(path, ignored);
    throw Error(ExitCode::write_failed,
                std::string(error.what()) +
                    (keep_partial_ ? "; " + partial_ + " is left, whole and playable" : ""));
  }
}

void Writer::replay(AVFormatContext& partial, OutputPass& pass) const {
  for (unsigned i = 0; i < partial.nb_streams; ++i) {
    const bool video = static_cast<int>(i) == partial_video_index_;
    partial.streams[i]->discard = video ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
  }
  const AVRational from = partial.streams[partial_video_index_]->time_base;
  const PacketPtr packet = make_packet();
  std::uint64_t count = 0;
  std::int64_t shift = 0;
  std::int64_t latest = std::numeric_limits<std::int64_t>::min();
  while (av_read_frame(&partial, packet.get()) >= 0) {
    if (packet->stream_index == partial_video_index_ && packet->dts != AV_NOPTS_VALUE) {
      const std::int64_t dts = rescale(packet->dts, from, base_);
      if (count++ == 0) shift = record_.first_dts - dts;
      packet->pts = rescale(packet->pts, from, base_) + shift;
      packet->dts = dts + shift;
      packet->duration = rescale(packet->duration, from, base_);
      latest = std::max(latest, packet->pts);
      if (packet->pts == record_.last_pts) packet->duration = record_.latest_duration;
      if (count == record_.packets) packet->duration = record_.last_duration;
      pass.write_video(*packet);
    }
    av_packet_unref(packet.get());
  }
  if (count != record_.packets || latest != record_.last_pts) {
    throw Error(ExitCode::write_failed, partial_ + ": was changed while it was written");
  }
}

void Writer::abandon() noexcept {
  held_.reset();
  pass_.reset();
  if (!created_ || keep_partial_) return;
  std::error_code ignored;
  fs::remove(partial_, ignored);
  created_ = false;
}

}  // namespace

std::unique_ptr<ContainerWriter> make_container_writer(const ContainerWriterOptions& options) {
  return std::make_unique<Writer>(options);
}

}  // namespace equalux

#include "pipelines/container/output/writer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <equalux/error.h>
#include <unistd.h>

extern "C" {
#include <libavutil/avstring.h>
}

#include "pipelines/container/alpha_packet.h"
#include "pipelines/container/input/iso_file.h"
#include "pipelines/container/input/open_input.h"
#include "pipelines/container/output/output_pass.h"
#include "pipelines/container/output/packet_journal.h"
#include "pipelines/core/sink.h"
#include "pipelines/files/partial_file.h"
#include "src/common/log.h"
#include "src/common/system_error.h"

namespace equalux {
namespace {

namespace fs = std::filesystem;

/// Shortest distance of pictures: no camera and no clip has more than a million pictures per
/// second.
constexpr std::int64_t kLeastPeriodNs = 1'000;

/// Returns true where both paths exist and name the same file.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code failure;
  return fs::equivalent(a, b, failure) && !failure;
}

/// Throws Error(cannot_create) where no file of that name can be created.
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
                path + ": its folder cannot be written to: " + system_error_text(errno));
  }
  if (fs::is_directory(path, failure)) {
    throw Error(ExitCode::cannot_create, path + ": is a folder; give the name of a file");
  }
}

/// Returns true for tags that describe the input's container, or the program that wrote it.
bool is_about_container(std::string_view key, std::string_view format) {
  static constexpr std::array<std::string_view, 5> kAny{"major_brand", "minor_version",
                                                        "compatible_brands", "encoder", "duration"};
  static constexpr std::array<std::string_view, 11> kMxf{"operational_pattern_ul",
                                                         "uid",
                                                         "generation_uid",
                                                         "company_name",
                                                         "product_name",
                                                         "product_version_num",
                                                         "product_version",
                                                         "application_platform",
                                                         "product_uid",
                                                         "toolkit_version_num",
                                                         "material_package_umid"};
  const auto same = [&](std::string_view own) {
    return key.size() == own.size() && av_strncasecmp(key.data(), own.data(), own.size()) == 0;
  };
  return std::any_of(kAny.begin(), kAny.end(), same) ||
         (format == "mxf" && std::any_of(kMxf.begin(), kMxf.end(), same));
}

/// Returns true where a track has the tag. MXF tells the timecode of the whole file; in mp4 and mov
/// it is a track.
bool has_track_with(const AVFormatContext& file, const AVDictionaryEntry& tag) {
  for (unsigned i = 0; i < file.nb_streams; ++i) {
    if (tag_of(file.streams[i]->metadata, tag.key) == tag.value) return true;
  }
  return false;
}

/// Times of the video that the final pass needs to restore them exactly.
struct VideoRecord {
  std::uint64_t packets = 0;
  std::int64_t first_pts = 0;
  std::int64_t last_pts = std::numeric_limits<std::int64_t>::min();  ///< the latest of all
  std::int64_t latest_duration = 0;  ///< of the packet with that pts
  std::int64_t last_duration = 0;    ///< of the packet that came last
  struct Times {
    std::int64_t pts, dts, duration;
  };
  std::vector<Times> times;  ///< as they were written, if there is a final pass

  void add(const AVPacket& packet) {
    if (packets++ == 0) first_pts = packet.pts;
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
        partial_(partial_path(options.output_path)),
        before_(working_path(options.output_path, Working::before)),
        safe_packets_(options.resume_packets) {}

  void check(const std::string& codec) override;
  void start(const EncodedVideoFormat& video) override;
  void write(const EncodedPacket& packet) override;
  std::uint64_t checkpoint() override;
  void suspend() noexcept override;
  void finish(bool cut_at_video_end) override;
  [[nodiscard]] std::optional<std::string> shortfall() const override;
  void abandon() noexcept override;
  [[nodiscard]] std::vector<std::string> dropped_streams() const override { return plan_.dropped; }
  [[nodiscard]] std::vector<std::string> copied_videos() const override { return plan_.videos; }

 private:
  void check_paths() const;
  void lock();
  void open_copies();
  [[nodiscard]] PacketPtr convert(const EncodedPacket& packet);
  [[nodiscard]] std::int64_t usual_duration() const;
  void write_held(std::optional<std::int64_t> next_dts);
  void check_times() const;
  void add(const EncodedPacket& packet);
  bool flush();
  void set_aside();
  void write_again(const std::vector<PacketNote>& notes);
  void tell_lost_tags() const noexcept;
  void remove_traces() noexcept;
  void remake(const std::string& path, std::optional<std::int64_t> end_ns);
  void replay(AVFormatContext& partial, OutputPass& pass) const;

  const ContainerWriterOptions options_;
  const ContainerKind kind_;
  const std::string partial_;
  const std::string before_;        // the partial file of the previous writer
  std::optional<OutputLock> lock_;  // on the partial file
  StreamPlan plan_;
  EncodedVideoFormat video_;
  std::unique_ptr<StreamCopy> copies_;
  std::unique_ptr<OutputPass> pass_;
  AVRational base_{1, 1};
  int partial_video_index_ = 0;
  MonotonicDts times_;
  PacketPtr held_;  // until the next packet tells its duration
  VideoRecord record_;
  std::uint64_t count_ = 0;  // packets that came; the span of their times follows
  std::int64_t first_pts_ns_ = 0;
  std::int64_t latest_pts_ns_ = 0;
  std::optional<PacketJournal> journal_;
  std::uint64_t safe_packets_ = 0;  // packets before the last checkpoint, which are kept
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

void Writer::lock() {
  if (lock_) return;
  std::error_code ignored;
  if (options_.resume_packets > 0 && !fs::exists(partial_, ignored) &&
      !fs::exists(before_, ignored)) {
    throw CannotResume(partial_ + ": cannot be continued: it is not there");
  }
  lock_.emplace(partial_, options_.output_path);
}

void Writer::open_copies() {
  plan_ = {};
  plan_.kind = kind_;
  copies_.reset();
  if (options_.copy_from.empty()) return;
  copies_ = std::make_unique<StreamCopy>(options_.copy_from, options_.part, options_.stop);
  try {
    plan_ = plan_streams(copies_->input(), kind_, options_.drop_streams);
  } catch (const Error& error) {
    throw Error(error.code(), options_.copy_from + ": " + error.what());
  }
}

void Writer::check(const std::string& codec) {
  check_paths();
  if (is_iso(kind_)) require_room_beside(options_.output_path);
  check_video_codec(codec, kind_);
  open_copies();
  lock();
}

void Writer::start(const EncodedVideoFormat& video) {
  if (!copies_) {
    check(video.codec);
  }
  video_ = video;
  if (copies_) copies_->select(plan_);
  std::vector<PacketNote> notes;
  if (!options_.journal.empty()) {
    journal_.emplace(options_.journal, options_.resume_packets);
    notes = std::move(journal_->earlier());
  }
  if (notes.empty()) {
    std::error_code ignored;
    fs::remove(before_, ignored);
  } else {
    set_aside();
  }
  OutputPassSpec spec{partial_,
                      is_iso(kind_) ? PassKind::live : PassKind::final,
                      plan_,
                      video_,
                      {},
                      false,
                      options_.part.length_ns};
  created_ = true;
  pass_ = std::make_unique<OutputPass>(spec, copies_.get());
  base_ = pass_->video_base();
  partial_video_index_ = pass_->video_index();
  times_ = MonotonicDts(is_iso(kind_) ? 1 : 0);
  if (!notes.empty()) write_again(notes);
}

/// Moves an existing partial file aside. It may be left over from a resumption that was killed;
/// then the file from before that counts.
void Writer::set_aside() {
  std::error_code failure;
  if (fs::exists(before_, failure)) return;
  fs::rename(partial_, before_, failure);
  if (failure) throw CannotResume(partial_ + ": cannot be continued: " + failure.message());
  lock_.reset();
  lock_.emplace(partial_, options_.output_path);
}

void Writer::write_again(const std::vector<PacketNote>& notes) {
  const auto take = [this](const EncodedPacket& packet, bool behind_checkpoint) {
    // Ends fragments where they ended before, so that the file becomes the same.
    if (behind_checkpoint) flush();
    add(packet);
  };
  const std::size_t count = read_noted(before_, notes, take);
  if (count < notes.size()) {
    throw CannotResume(before_ + ": holds " + std::to_string(count) + " of the " +
                       std::to_string(notes.size()) + " packets that were written before");
  }
  checkpoint();
}

/// Flushes; returns false where the head still waits for a copied stream, and the file is not
/// usable yet.
bool Writer::flush() {
  if (held_) write_held(std::nullopt);
  return pass_->flush();
}

std::uint64_t Writer::checkpoint() {
  if (!journal_ || !pass_ || (!held_ && record_.packets == 0)) return 0;
  if (!flush()) return 0;
  journal_->checkpoint();
  std::error_code ignored;
  fs::remove(before_, ignored);
  safe_packets_ = record_.packets;
  return safe_packets_;
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
  if (!packet.alpha.empty()) set_alpha_packet(*converted, packet.alpha);
  converted->pts = rescale(packet.pts_ns, kNanoseconds, base_);
  converted->dts = rescale(packet.dts_ns, kNanoseconds, base_);
  converted->duration = rescale(packet.duration_ns, kNanoseconds, base_);
  if (packet.keyframe) converted->flags |= AV_PKT_FLAG_KEY;
  times_.fix(*converted);
  return converted;
}

void Writer::write(const EncodedPacket& encoded) {
  EncodedPacket packet = encoded;
  std::vector<std::byte> retagged;
  if (pass_->head_tags().rewrite(encoded.data, retagged)) packet.data = retagged;
  if (journal_) journal_->append(packet);
  add(packet);
}

void Writer::add(const EncodedPacket& packet) {
  first_pts_ns_ = count_ == 0 ? packet.pts_ns : std::min(first_pts_ns_, packet.pts_ns);
  latest_pts_ns_ = count_ == 0 ? packet.pts_ns : std::max(latest_pts_ns_, packet.pts_ns);
  ++count_;
  PacketPtr next = convert(packet);
  if (held_) write_held(next->dts);
  held_ = std::move(next);
}

/// Returns the duration for a packet whose encoder gave none: a frame's at the usual rate.
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
  if (is_iso(kind_)) record_.times.push_back({held_->pts, held_->dts, held_->duration});
  // A fragment's last packet must last until the next one, since only that keeps the times exact.
  if (is_iso(kind_) && next_dts) held_->duration = *next_dts - held_->dts;
  pass_->write_video(*held_);
  held_.reset();
}

/// Refuses pictures that all have the same time, which no player shows. Rounding to the container's
/// ticks may have made such times rise.
void Writer::check_times() const {
  if (count_ < 2) return;
  if (latest_pts_ns_ - first_pts_ns_ >= static_cast<std::int64_t>(count_ - 1) * kLeastPeriodNs) {
    return;
  }
  throw Error(ExitCode::write_failed, options_.output_path +
                                          ": its pictures have no times, the input tells none; "
                                          "give their rate with --fps, or an input that has times");
}

void Writer::finish(bool cut_at_video_end) {
  if (!pass_) throw Error(ExitCode::write_failed, options_.output_path + ": nothing was encoded");
  check_times();
  if (held_) write_held(std::nullopt);
  std::optional<std::int64_t> end_ns;
  if (cut_at_video_end || options_.part.cut_end) {
    end_ns = record_.packets > 0 ? rescale(record_.end(), base_, kNanoseconds) : 0;
  }
  std::string whole = partial_;
  if (is_iso(kind_)) {
    pass_->close();
    pass_.reset();
    keep_partial_ = record_.packets > 0;
    whole = working_path(options_.output_path, Working::closing);
    remake(whole, end_ns);
  } else {
    pass_->finish(end_ns);
    pass_.reset();
  }
  std::error_code failure;
  fs::rename(whole, options_.output_path, failure);
  if (failure) {
    const std::string why = failure.message();
    keep_partial_ = true;
    failure.clear();
    if (whole != partial_) fs::rename(whole, partial_, failure);  // over its fragments: one stays
    throw Error(ExitCode::write_failed, options_.output_path +
                                            ": cannot be given its name: " + why +
                                            "; it is left as " + (failure ? whole : partial_));
  }
  if (whole != partial_) fs::remove(partial_, failure);
  tell_lost_tags();
  remove_traces();
  created_ = false;
  lock_.reset();
}

std::optional<std::string> Writer::shortfall() const {
  if (!copies_ || copies_->read_error().empty()) return std::nullopt;
  return "the copied streams end early: " + copies_->read_error();
}

/// Logs tags for which the container has no place, which is only known once it is written.
void Writer::tell_lost_tags() const noexcept {
  if (!copies_) return;
  try {
    std::vector<const AVDictionaryEntry*> tags;
    const AVDictionaryEntry* entry = nullptr;
    while ((entry = av_dict_get(copies_->input().metadata, "", entry, AV_DICT_IGNORE_SUFFIX)) !=
           nullptr) {
      if (!is_about_container(entry->key, copies_->input().iformat->name)) tags.push_back(entry);
    }
    if (tags.empty()) return;
    const InputContext output = open_head(options_.output_path);
    std::string lost;
    for (const AVDictionaryEntry* tag : tags) {
      const std::string_view key = tag->key;
      // "title-eng" is another spelling of "title".
      const bool has_language = key.size() > 4 && key[key.size() - 4] == '-';
      const std::string plain(has_language ? key.substr(0, key.size() - 4) : key);
      if (av_dict_get(output->metadata, tag->key, nullptr, 0) != nullptr ||
          av_dict_get(output->metadata, plain.c_str(), nullptr, 0) != nullptr ||
          (key == "timecode" && has_track_with(*output, *tag))) {
        continue;
      }
      lost.append(lost.empty() ? "" : ", ").append(key);
    }
    if (lost.empty()) return;
    logger().warn("{}: has no place for these tags of {}: {}{}", options_.output_path,
                  options_.copy_from, lost, is_iso(kind_) ? "; .mkv has" : "");
  } catch (const std::exception& error) {
    logger().debug("{}: its tags cannot be read back: {}", options_.output_path, error.what());
  }
}

void Writer::remove_traces() noexcept {
  std::error_code ignored;
  fs::remove(before_, ignored);
  if (!std::exchange(journal_, std::nullopt)) return;
  fs::remove(options_.journal, ignored);
}

void Writer::suspend() noexcept {
  try {
    if (held_ && pass_) write_held(std::nullopt);
    if (pass_) pass_->close();
  } catch (const std::exception& error) {
    logger().debug("{}: is left as it is: {}", partial_, error.what());
  }
  held_.reset();
  pass_.reset();
  journal_.reset();
  created_ = false;
  lock_.reset();
}

/// Makes the plain file. Fragments lose chapters, cover art and the exact ends of tracks, so it
/// takes only the video from them, and everything else from the input again.
void Writer::remake(const std::string& path, std::optional<std::int64_t> end_ns) {
  const auto left = [this] {
    return keep_partial_ ? "; " + partial_ + " is left, whole and playable" : std::string();
  };
  try {
    if (copies_) {
      copies_ = std::make_unique<StreamCopy>(options_.copy_from, options_.part, options_.stop);
      copies_->select(plan_);
    }
  } catch (const Error& error) {  // The input changed; no other disk would help.
    throw Error(error.code(), error.what() + left());
  }
  try {
    InputContext partial;
    if (record_.packets > 0) {
      partial = open_head(partial_);
      // In fragments, what was a byte stream is length-prefixed units with a head of their own.
      const AVCodecParameters& codec = *partial->streams[partial_video_index_]->codecpar;
      const auto* head = reinterpret_cast<const std::byte*>(codec.extradata);
      video_.codec_data.assign(head, head + codec.extradata_size);
    }
    const bool named_tags = copies_ && iso_has_named_tags(options_.copy_from);
    OutputPass pass({path, PassKind::final, plan_, video_, record_.first_pts, named_tags, end_ns},
                    copies_.get());
    if (partial) replay(*partial, pass);
    pass.finish(end_ns);
  } catch (const Error& error) {
    std::error_code ignored;
    fs::remove(path, ignored);
    throw Error(ExitCode::write_failed, error.what() + left());
  }
}

void Writer::replay(AVFormatContext& partial, OutputPass& pass) const {
  for (unsigned i = 0; i < partial.nb_streams; ++i) {
    const bool video = static_cast<int>(i) == partial_video_index_;
    partial.streams[i]->discard = video ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
  }
  const PacketPtr packet = make_packet();
  std::uint64_t count = 0;
  while (av_read_frame(&partial, packet.get()) >= 0) {
    if (packet->stream_index == partial_video_index_ && count < record_.packets) {
      const VideoRecord::Times& times = record_.times[count++];
      packet->pts = times.pts;
      packet->dts = times.dts;
      packet->duration = times.duration;
      if (packet->pts == record_.last_pts) packet->duration = record_.latest_duration;
      if (count == record_.packets) {
        packet->duration = record_.last_duration;
        // A track lasts as long as its decoding times, which lag behind a gap in presentation
        // times.
        const std::int64_t lasts = packet->dts + packet->duration - record_.times.front().dts;
        if (lasts < record_.end() - record_.first_pts) packet->dts = packet->pts;
      }
      pass.write_video(*packet);
    }
    av_packet_unref(packet.get());
  }
  if (count != record_.packets) {
    throw Error(ExitCode::write_failed, partial_ + ": was changed while it was written");
  }
}

void Writer::abandon() noexcept {
  if (safe_packets_ > 0 || (options_.keep_partial && record_.packets > 0)) return suspend();
  held_.reset();
  pass_.reset();
  if (created_ && !keep_partial_) {
    std::error_code ignored;
    fs::remove(partial_, ignored);
    remove_traces();
  }
  created_ = false;
  lock_.reset();
}

}  // namespace

std::unique_ptr<ContainerWriter> make_container_writer(const ContainerWriterOptions& options) {
  return std::make_unique<Writer>(options);
}

}  // namespace equalux

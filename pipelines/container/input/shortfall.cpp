#include "pipelines/container/input/shortfall.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string_view>

#include "pipelines/container/input/declared_size.h"
#include "pipelines/container/input/open_input.h"
#include "src/common/formatting.h"

namespace equalux {
namespace {

constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLeastShortfallUs = 500'000;
/// Distance from the declared end at which reading begins: longer than most key frame intervals.
constexpr std::int64_t kTailUs = 5'000'000;

bool is_mov(const AVFormatContext& input) {
  return std::string_view(input.iformat->name).starts_with("mov,");
}

/// Returns true for formats whose head declares a duration that is not a guess.
bool declares_duration(const AVFormatContext& input) {
  const std::string_view format = input.iformat->name;
  return input.duration_estimation_method == AVFMT_DURATION_FROM_STREAM && input.duration > 0 &&
         (is_mov(input) || format.starts_with("matroska") || format == "flv" || format == "asf");
}

struct IndexEnd {
  std::uint64_t byte = 0;     ///< after the last sample that the index names
  std::int64_t us = kNoTime;  ///< end of the last sample
};

/// Returns the end of the file according to the index in its head.
IndexEnd end_of_index(AVFormatContext& input) {
  IndexEnd end;
  for (unsigned i = 0; i < input.nb_streams; ++i) {
    AVStream* stream = input.streams[i];
    const int count = avformat_index_get_entries_count(stream);
    std::int64_t step = 0;
    for (int k = 0; k < count; ++k) {
      const AVIndexEntry* entry = avformat_index_get_entry(stream, k);
      if (entry->pos >= 0 && entry->size > 0) {
        end.byte = std::max(end.byte, static_cast<std::uint64_t>(entry->pos) +
                                          static_cast<std::uint64_t>(entry->size));
      }
      if (k + 1 == count && entry->timestamp != AV_NOPTS_VALUE) {
        end.us = std::max(end.us,
                          av_rescale_q(entry->timestamp + step, stream->time_base, kMicroseconds));
      } else if (k + 2 == count) {
        step = avformat_index_get_entry(stream, k + 1)->timestamp - entry->timestamp;
      }
    }
  }
  return end;
}

/// Returns the latest end of the packets from the current position on.
std::int64_t end_of_packets(AVFormatContext& input) {
  const PacketPtr packet = make_packet();
  std::int64_t end = kNoTime;
  while (av_read_frame(&input, packet.get()) >= 0) {
    const std::int64_t time = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    if (time != AV_NOPTS_VALUE) {
      const AVRational base = input.streams[packet->stream_index]->time_base;
      end = std::max(end, av_rescale_q(time + std::max<std::int64_t>(0, packet->duration), base,
                                       kMicroseconds));
    }
    av_packet_unref(packet.get());
  }
  return end;
}

std::int64_t tolerance_us(const AVFormatContext& input) {
  const int video = filtered_stream(input);
  if (video < 0) return kLeastShortfallUs;
  const AVRational rate = input.streams[video]->avg_frame_rate;
  if (rate.num <= 0 || rate.den <= 0) return kLeastShortfallUs;
  return std::max(kLeastShortfallUs, av_rescale(2'000'000, rate.den, rate.num));
}

/// Returns how much of the declared duration is missing after `end`. Some formats count it from
/// zero, some from the first timestamp; the smaller result counts.
std::int64_t missing_us(const AVFormatContext& input, std::int64_t end) {
  if (end == kNoTime) return input.duration;
  const std::int64_t start = input.start_time != AV_NOPTS_VALUE ? input.start_time : 0;
  return input.duration - std::max(end, end - start);
}

/// Reads as little as is needed: the index, then the tail, then everything.
std::int64_t missing_time(const std::string& path, InputContext input, std::int64_t tolerance) {
  std::int64_t end = end_of_index(*input).us;
  if (is_mov(*input) && missing_us(*input, end) <= tolerance) return 0;
  if (avformat_seek_file(input.get(), -1, std::numeric_limits<std::int64_t>::min(),
                         std::max<std::int64_t>(0, input->duration - kTailUs),
                         std::numeric_limits<std::int64_t>::max(), 0) >= 0) {
    end = std::max(end, end_of_packets(*input));
    if (missing_us(*input, end) <= tolerance) return 0;
  }
  input = open_input(path);
  end = std::max(end, end_of_packets(*input));
  return missing_us(*input, end);
}

}  // namespace

std::optional<std::string> container_shortfall(const std::string& path) {
  check_readable(path);
  if (const auto missing = missing_bytes(path)) return describe(*missing);
  InputContext input = open_input(path);
  if (is_mov(*input)) {
    const MissingBytes samples{std::filesystem::file_size(path), end_of_index(*input).byte};
    if (samples.declared > samples.present) return describe(samples);
  }
  if (!declares_duration(*input)) return std::nullopt;
  const std::int64_t tolerance = tolerance_us(*input);
  const std::int64_t declared = input->duration;
  const std::int64_t missing = missing_time(path, std::move(input), tolerance);
  if (missing <= tolerance) return std::nullopt;
  return fmt::format("ends {:.2f} s short of its declared {:.2f} s",
                     static_cast<double>(missing) / 1e6, static_cast<double>(declared) / 1e6);
}

}  // namespace equalux

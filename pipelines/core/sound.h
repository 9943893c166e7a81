#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

/// The sound beside the frames of a source, for sinks that send both.
namespace equalux {

/// Sample rate of sound. Samples have 16 bits and two interleaved channels.
inline constexpr int kSoundRate = 48'000;
inline constexpr int kSoundChannels = 2;

struct SoundChunk {
  std::vector<std::int16_t> samples;  ///< left, right, left, ...
  std::int64_t pts_ns = 0;            ///< of the first sample, on the clock of the frames' pts_ns
  [[nodiscard]] std::int64_t duration_ns() const {
    return static_cast<std::int64_t>(samples.size() / kSoundChannels) * 1'000'000'000 / kSoundRate;
  }
};

/// A source of sound. One thread at a time, which need not be the source's.
class SoundFeed {
 public:
  virtual ~SoundFeed() = default;
  /// Returns the next piece, in order, or nothing where there is none yet; never waits.
  [[nodiscard]] virtual std::optional<SoundChunk> pull() = 0;
  /// Skips sound before `pts_ns`, which saves reading a file up to there.
  virtual void skip_towards(std::int64_t pts_ns) { (void)pts_ns; }
};

/// The sound of a source that is opened again from time to time, on one clock. Thread-safe.
class RelayedSound final : public SoundFeed {
 public:
  [[nodiscard]] std::optional<SoundChunk> pull() override {
    const std::lock_guard lock(mutex_);
    if (!feed_) return std::nullopt;
    std::optional<SoundChunk> chunk = feed_->pull();
    // Drops sound before the first frame, which has no place beside the frames.
    if (!chunk || !shift_ns_) return std::nullopt;
    chunk->pts_ns += *shift_ns_;
    return chunk;
  }
  /// Switches to another feed; null = silence.
  void follow(std::shared_ptr<SoundFeed> feed) {
    const std::lock_guard lock(mutex_);
    feed_ = std::move(feed);
    shift_ns_.reset();
  }
  /// Sets the shift that is added to the feed's times.
  void set_shift(std::int64_t shift_ns) {
    const std::lock_guard lock(mutex_);
    shift_ns_ = shift_ns;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<SoundFeed> feed_;
  std::optional<std::int64_t> shift_ns_;
};

}  // namespace equalux

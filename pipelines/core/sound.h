#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

/// The sound beside the frames of a source, for sinks that send both on.
namespace equalux {

/// Samples of sound are 16 bits, of two channels that lie side by side, so many of each a second.
inline constexpr int kSoundRate = 48'000;
inline constexpr int kSoundChannels = 2;

struct SoundChunk {
  std::vector<std::int16_t> samples;  ///< left, right, left, ...
  std::int64_t pts_ns = 0;            ///< of the first one, on the clock of the frames' pts_ns
  [[nodiscard]] std::int64_t duration_ns() const {
    return static_cast<std::int64_t>(samples.size() / kSoundChannels) * 1'000'000'000 / kSoundRate;
  }
};

/// Where sound comes from. One thread at a time, which may be another than the source's.
class SoundFeed {
 public:
  virtual ~SoundFeed() = default;
  /// The next piece of it, in order, or nothing where there is none yet; never waits.
  [[nodiscard]] virtual std::optional<SoundChunk> pull() = 0;
  /// Sound before `pts_ns` is not asked for, which saves a file's reading up to there.
  virtual void skip_towards(std::int64_t pts_ns) { (void)pts_ns; }
};

/// The sound of a source that is made again now and then, on the clock of all of them. Thread-safe.
class RelayedSound final : public SoundFeed {
 public:
  [[nodiscard]] std::optional<SoundChunk> pull() override {
    const std::lock_guard lock(mutex_);
    if (!feed_) return std::nullopt;
    std::optional<SoundChunk> chunk = feed_->pull();
    // What comes before the first frame has no place beside the frames.
    if (!chunk || !shift_ns_) return std::nullopt;
    chunk->pts_ns += *shift_ns_;
    return chunk;
  }
  /// From now on what this feed gives; null = nothing.
  void follow(std::shared_ptr<SoundFeed> feed) {
    const std::lock_guard lock(mutex_);
    feed_ = std::move(feed);
    shift_ns_.reset();
  }
  /// What is added to the feed's own times.
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

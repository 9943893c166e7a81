#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <equalux/error.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "pipelines/core/processor.h"
#include "pipelines/core/sink.h"
#include "pipelines/core/source.h"

/// Sources, processors, filters and sinks that fail, wait and count as a test asks them to.
namespace equalux::test {

/// Ends the process with a message where a test hangs: a deadlock must not eat CI's hours.
class Watchdog {
 public:
  explicit Watchdog(std::chrono::seconds limit = std::chrono::seconds(60)) {
    thread_ = std::thread([this, limit] {
      std::unique_lock lock(mutex_);
      while (!over_) {
        restarted_ = false;
        if (changed_.wait_for(lock, limit, [this] { return over_ || restarted_; })) continue;
        std::fputs("watchdog: the test hangs\n", stderr);
        std::abort();
      }
    });
  }
  /// For tests of many rounds, each of which has the whole limit.
  void restart() {
    {
      const std::lock_guard lock(mutex_);
      restarted_ = true;
    }
    changed_.notify_all();
  }
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  bool restarted_ = false;
  std::thread thread_;
};

/// Thread whose work begins with a call that waits for another thread. await_sleep() tells when it
/// waits; a sleep of some length in the test would leave that to chance.
class WaitingThread {
 public:
  explicit WaitingThread(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          number_ = ::gettid();
          work();
          over_ = true;
        }) {}
  /// Returns once the kernel has put the thread to sleep, or its work is over.
  void await_sleep() const {
    while (!over_ && (number_ == 0 || state() != 'S'))
      std::this_thread::yield();
  }
  [[nodiscard]] bool over() const { return over_; }
  void join() { thread_.join(); }

 private:
  [[nodiscard]] char state() const {
    std::ifstream file("/proc/self/task/" + std::to_string(number_) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');  // "NUMBER (NAME) STATE ..."
    return name_end == std::string::npos ? '?' : text[name_end + 2];
  }
  std::atomic<pid_t> number_{0};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

inline ImageDesc small_desc(int width = 6, int height = 4) {
  ImageDesc desc;
  desc.format = PixelFormat::gray8;
  desc.width = width;
  desc.height = height;
  return desc;
}

inline void fill_bytes(const ImageView& view, std::uint8_t value) {
  for (int y = 0; y < view.desc.height; ++y) {
    std::memset(view.row(0, y), value, row_bytes(view.desc, 0));
  }
}

/// Filter of gray frames whose results are 255 minus the samples.
class InvertFilter final : public Filter {
 public:
  bool accepts(PixelFormat format) const override { return format == PixelFormat::gray8; }
  ImageDesc configure(const ImageDesc& input) override { return input; }
  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    for (int y = 0; y < in.desc.height; ++y) {
      for (int x = 0; x < in.desc.width; ++x) {
        out.row(0, y)[x] = static_cast<std::uint8_t>(255 - in.row(0, y)[x]);
      }
    }
    if (context.timings != nullptr) context.timings->push_back({"invert", 0.25});
    contexts.push_back(context);
    if (fail_at && context.index == *fail_at) throw std::runtime_error("filter broke");
  }
  std::vector<FrameContext> contexts;
  std::optional<std::uint64_t> fail_at;
};

/// Gray frames whose bytes are the frame's number, 10 ms apart.
class FakeSource final : public Source {
 public:
  explicit FakeSource(std::uint64_t frames) : frames_(frames) {}

  void offer_device(int device) override { offers.push_back(device); }
  StreamInfo open(const FormatPredicate& accepts) override {
    ++opens;
    if (fail_open) throw Error(ExitCode::no_input, "fake: missing");
    if (stall_open) wait_for_cancel();
    EXPECT_TRUE(accepts(PixelFormat::gray8));
    StreamInfo info;
    info.desc = desc;
    info.frame_rate = {100, 1};
    info.live = live;
    info.name = "fake";
    if (expected) info.frames = frames_;
    return info;
  }
  bool lends_buffers() const override { return lends; }
  bool read(Frame& frame) override {
    if (cancelled_) return false;
    if (fail_at && next_ == *fail_at) throw Error(ExitCode::bad_input, "fake: damaged");
    if (stall_at && next_ == *stall_at) wait_for_cancel();
    if (cancelled_ || next_ == frames_) return false;
    if (pace.count() > 0) std::this_thread::sleep_for(pace);
    if (resize_at && next_ == *resize_at) {
      odd_ = Image(small_desc(2, 2));
      frame.image = std::as_const(odd_).view();
    } else if (lends) {
      auto* image = new Image(desc);
      fill_bytes(image->view(), static_cast<std::uint8_t>(next_));
      frame.image = std::as_const(*image).view();
      frame.lease = image;
      frame.release = [](void* lease) {
        delete static_cast<Image*>(lease);
        ++released();
      };
    } else {
      fill_bytes(frame.pixels.view(), static_cast<std::uint8_t>(next_));
    }
    frame.pts_ns = static_cast<std::int64_t>(next_) * 10'000'000;
    if (stamp) frame.pts_ns = stamp(next_);
    frame.duration_ns = 10'000'000;
    if (drop_before && next_ == *drop_before) frame.timings.dropped_before = 2;
    ++next_;
    return true;
  }
  void cancel() noexcept override {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    changed_.notify_all();
  }
  std::optional<std::string> shortfall() const override { return short_by; }

  static std::atomic<int>& released() {
    static std::atomic<int> count{0};
    return count;
  }

  ImageDesc desc = small_desc();
  bool live = false;
  bool lends = false;
  bool expected = false;
  bool fail_open = false;
  bool stall_open = false;
  std::optional<std::uint64_t> fail_at, stall_at, resize_at, drop_before;
  std::optional<std::string> short_by;
  std::chrono::milliseconds pace{0};
  std::function<std::int64_t(std::uint64_t)> stamp;  ///< other timestamps, by the frame's number
  std::vector<int> offers;                           ///< devices that were offered, in order
  int opens = 0;

 private:
  void wait_for_cancel() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return cancelled_.load(); });
  }
  std::uint64_t frames_;
  std::uint64_t next_ = 0;
  Image odd_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> cancelled_{false};
};

/// Sink that remembers the frames that it gets, and on which threads it is called.
class FakeSink final : public Sink {
 public:
  void open(const StreamInfo& info) override {
    note_thread();
    opened = info;
    if (fail_open) throw Error(ExitCode::cannot_create, "fake sink: no folder");
  }
  void write(Frame& frame) override {
    note_thread();
    if (fail_write_at && indexes.size() == *fail_write_at) {
      throw Error(ExitCode::write_failed, "fake sink: disk full");
    }
    if (throw_odd_at && indexes.size() == *throw_odd_at) throw std::runtime_error("odd");
    if (stall_at && indexes.size() == *stall_at) wait_for_cancel();
    if (pace.count() > 0) std::this_thread::sleep_for(pace);
    indexes.push_back(frame.index);
    bytes.push_back(frame.image.row(0, 0)[0]);
    dropped_before.push_back(frame.timings.dropped_before);
    gaps.push_back(frame.discontinuity);
    if (frame.original) originals.push_back(frame.original->image.row(0, 0)[0]);
    if (on_write) on_write(indexes.size());
  }
  void finish(Ending ending) override {
    note_thread();
    endings.push_back(ending);
    if (fail_finish) throw Error(ExitCode::write_failed, "fake sink: close failed");
  }
  void cancel() noexcept override {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    changed_.notify_all();
  }
  bool needs_main_thread() const override { return main_thread; }
  bool wants_original() const override { return keep_original; }
  bool closed() const override { return close_at && indexes.size() >= *close_at; }
  void idle() override {
    note_thread();
    ++idles;
  }
  std::string name() const override { return "fake sink"; }
  std::optional<std::string> shortfall() const override {
    return endings.empty() ? std::nullopt : short_by;
  }

  std::optional<std::string> short_by;
  bool fail_open = false;
  bool fail_finish = false;
  bool main_thread = false;
  bool keep_original = false;
  std::optional<std::size_t> fail_write_at, throw_odd_at, stall_at, close_at;
  std::chrono::milliseconds pace{0};
  std::function<void(std::size_t)> on_write;

  std::optional<StreamInfo> opened;
  std::vector<std::uint64_t> indexes, dropped_before;
  std::vector<std::uint8_t> bytes, originals;
  std::vector<bool> gaps;
  std::vector<Ending> endings;
  std::vector<std::thread::id> threads;
  int idles = 0;

 private:
  void note_thread() {
    if (threads.empty() || threads.back() != std::this_thread::get_id()) {
      threads.push_back(std::this_thread::get_id());
    }
  }
  void wait_for_cancel() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return cancelled_; });
    throw Error(ExitCode::write_failed, "fake sink: reader stalls");
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool cancelled_ = false;
};

/// Processor that holds frames back as a GPU's does: collect(false) gives a frame only once `depth`
/// newer ones are in.
class DelayedProcessor : public Processor {
 public:
  explicit DelayedProcessor(std::size_t depth) : depth_(depth) {}
  bool accepts(PixelFormat format) const override { return format == PixelFormat::gray8; }
  ImageDesc configure(const ImageDesc& input) override { return input; }
  std::size_t depth() const override { return depth_; }
  void submit(FramePtr in, FramePtr out, bool /*measure*/, bool keep_original) override {
    EXPECT_LT(held_.size(), depth_);
    if (fail_at && in->index == *fail_at) throw std::runtime_error("device lost");
    copy_image(in->image, out->pixels.view());
    out->index = in->index;
    out->pts_ns = in->pts_ns;
    out->duration_ns = in->duration_ns;
    if (keep_original) out->original = std::move(in);
    held_.push_back(std::move(out));
    deepest = std::max(deepest, held_.size());
  }
  FramePtr collect(bool wait) override {
    if (held_.empty() || (!wait && held_.size() < depth_)) return nullptr;
    FramePtr oldest = std::move(held_.front());
    held_.pop_front();
    return oldest;
  }
  std::string description() const override { return "delayed"; }

  std::optional<std::uint64_t> fail_at;
  std::size_t deepest = 0;

 private:
  std::size_t depth_;
  std::deque<FramePtr> held_;
};

/// The exit code and text of the Error that `call` throws; done and "" where it throws none.
template <typename Call>
std::pair<ExitCode, std::string> error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {ExitCode::done, ""};
}

}  // namespace equalux::test

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <equalux/params.h>
#include <nlohmann/json_fwd.hpp>

#include "pipelines/core/processor.h"
#include "pipelines/live/recorder.h"

/// Changing the filters while frames move: what the window's keys, the control socket and the page
/// share.
namespace equalux {

/// Thread-safe; apply() belongs to the processing thread.
class Steering {
 public:
  /// An `equalize` of the chain that runs the fused chain: where it stands, from 0, and what with.
  struct Equalizer {
    std::size_t filter = 0;
    EqualizeParams params;
  };
  /// Options of a preset by name. Throws Error(usage) for a name that is none.
  using ReadPreset =
      std::function<std::vector<std::pair<std::string, std::string>>(const std::string& name)>;

  /// `presets` are the names that next_preset() goes through; `preset` is the one that the run
  /// begins with, empty where it has none. Throws what `read_preset` throws for it.
  explicit Steering(std::vector<Equalizer> equalizers, std::vector<std::string> presets = {},
                    ReadPreset read_preset = {}, std::string preset = {});

  /// The options that may change, as --help spells them: strength, clip-limit, floor, ceiling,
  /// max-gain, temporal-ms, brighten-ms, darken-ms, scaler.
  [[nodiscard]] static const std::vector<std::string_view>& keys();

  /// The run can record: "recording" is a key from now on. Before anybody else calls.
  void allow_recording(RecordSwitch& recording) { recording_ = &recording; }

  /// Takes an object such as {"strength":0.6,"filter":false}: any of keys(), which hold for every
  /// equalizer, "filter", "recording", and "preset", whose values stand below the other keys', or
  /// in place of that "reset", true, for the values and the preset that the run began with. All of
  /// it or, where anything is wrong, nothing. Throws Error(usage).
  void change(const nlohmann::json& wanted);

  /// One step of a key of the window: strength by 0.05, clip-limit by 0.25 (1 is the least, 0
  /// none), temporal-ms by 100 or a tenth. At an end of the range it stays there.
  void step(std::string_view key, int direction);
  void next_preset(int direction);
  void toggle_filter();
  void toggle_recording();
  /// False once it has failed, too.
  [[nodiscard]] bool recording() const { return recording_ != nullptr && recording_->on; }

  /// What holds: {"filter","preset",keys()...}; the keys of the first equalizer, none where the
  /// chain has none. "preset" is the one that was chosen last, here or at the start, "" without
  /// one; "recording" is there where it can be.
  [[nodiscard]] nlohmann::ordered_json state() const;
  /// True where a value of keys() is not the preset's, or, without one, not what the run began
  /// with.
  [[nodiscard]] bool changed() const;
  [[nodiscard]] const std::vector<std::string>& presets() const { return presets_; }
  /// The last change as a window shows it, "strength 0.85"; empty where there was none.
  [[nodiscard]] std::string last_change() const;

  /// Gives the processor what has changed, and marks the frame where the filter is off.
  void apply(Processor& processor, Frame& frame);

 private:
  using PresetValues = std::vector<std::pair<std::string, std::string>>;
  void set(nlohmann::json wanted);
  [[nodiscard]] PresetValues values_of(const std::string& preset) const;

  const std::vector<std::string> presets_;
  const ReadPreset read_preset_;
  const std::vector<Equalizer> start_;
  const std::string start_preset_;
  std::vector<Equalizer> start_base_;  // what start_preset_ alone gives
  RecordSwitch* recording_ = nullptr;
  mutable std::mutex mutex_;  // guards the next five
  std::vector<Equalizer> equalizers_;
  std::vector<Equalizer> base_;  // what preset_ alone gives
  std::string preset_;
  bool filtering_ = true;
  std::string last_change_;
  std::atomic<std::uint64_t> changes_{0};
  std::uint64_t applied_ = 0;  // apply()'s own, as the next
  bool filtering_now_ = true;
};

}  // namespace equalux

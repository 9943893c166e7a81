#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <equalux/options.h>
#include <nlohmann/json_fwd.hpp>

#include "pipelines/core/processor.h"
#include "pipelines/live/recorder.h"
#include "src/common/filter_recipe.h"

/// Changing the filters while frames move: what the window's keys, the control socket and the page
/// share.
namespace equalux {

/// A filter that may change, by its options that are live. Their keys are the filter's own, but for
/// those that mean another thing to `equalize`: "denoise-strength".
struct Steered {
  std::size_t filter = 0;       ///< where it stands among the filters, from 0
  std::vector<Option> options;  ///< those that are live; their texts are kept by `read`
  OptionValues values;          ///< of those, in order
  /// Reads other values over those, and gives all live ones. Throws Error(usage) for what cannot be
  /// read or is no good.
  std::function<OptionValues(const OptionValues& values)> read;
  /// Values by the filter's own keys.
  std::function<OptionValues(const OptionValues& values)> by_own_keys;
};

/// The filter at a place among the filters, with its recipe. Options that the backend lacks cannot
/// be changed.
[[nodiscard]] Steered steered(std::size_t filter, const RecipePtr& recipe,
                              Backend backend = Backend::automatic);

/// Thread-safe; apply() belongs to the processing thread. What a window calls is virtual, so that
/// it reaches the program's filters from a module.
class Steering {
 public:
  /// Options of a preset by name. Throws Error(usage) for a name that no preset has.
  using ReadPreset = std::function<OptionValues(const std::string& name)>;

  /// `presets` are the names that next_preset() goes through; `preset` is the one that the run
  /// begins with, empty where it has none. Throws what `read_preset` throws for it.
  explicit Steering(std::vector<Steered> filters, std::vector<std::string> presets = {},
                    ReadPreset read_preset = {}, std::string preset = {});
  virtual ~Steering() = default;
  Steering(const Steering&) = delete;
  Steering& operator=(const Steering&) = delete;

  /// The options that may change, each once: of filters that share a key, the first one's.
  [[nodiscard]] const std::vector<Option>& options() const { return options_; }

  /// The run can record: "recording" is a key from now on. Before anybody else calls.
  void allow_recording(RecordSwitch& recording) { recording_ = &recording; }

  /// Takes an object such as {"strength":0.6,"filter":false}: keys of options(), which hold for
  /// every filter that has them, "filter", "recording", and "preset", whose values stand below the
  /// other keys', or in place of that "reset", true, for the values and the preset that the run
  /// began with and the filter on. All of it or, where anything is wrong, nothing. Throws
  /// Error(usage).
  void change(const nlohmann::json& wanted);

  /// One step of a number, its option's or, in a long range, a tenth. At an end of the range it
  /// stays there; where 0 stands for no limit, that is above 40.
  virtual void step(std::string_view key, int direction);
  virtual void next_preset(int direction);
  virtual void toggle_filter();
  virtual void toggle_recording();
  /// False once it has failed, too.
  [[nodiscard]] bool recording() const { return recording_ != nullptr && recording_->on; }

  /// What holds: {"filter","preset",...} with the keys of options(), each of the first filter that
  /// has it. "preset" is the one that was chosen last, here or at the start, "" without one;
  /// "recording" is there where it can be.
  [[nodiscard]] nlohmann::ordered_json state() const;
  /// True where a value is not the preset's, or, without one, not what the run began with.
  [[nodiscard]] bool changed() const;
  [[nodiscard]] const std::vector<std::string>& presets() const { return presets_; }
  /// True where a preset sets something of the filters.
  [[nodiscard]] bool takes_presets() const;
  /// The last change as a window shows it, "strength 0.85"; empty where there was none.
  [[nodiscard]] virtual std::string last_change() const;

  /// Gives the processor what has changed, and marks the frame where the filter is off.
  void apply(Processor& processor, Frame& frame);

 private:
  void set(nlohmann::json wanted);
  void check_keys(const nlohmann::json& wanted) const;
  [[nodiscard]] OptionValues values_of(const std::string& preset) const;

  const std::vector<std::string> presets_;
  const ReadPreset read_preset_;
  const std::vector<Steered> start_;
  const std::string start_preset_;
  std::vector<Option> options_;
  std::vector<Steered> start_base_;  // what start_preset_ alone gives
  RecordSwitch* recording_ = nullptr;
  mutable std::mutex mutex_;  // guards the next five
  std::vector<Steered> filters_;
  std::vector<Steered> base_;  // what preset_ alone gives
  std::string preset_;
  bool filtering_ = true;
  std::string last_change_;
  std::atomic<std::uint64_t> changes_{0};
  std::uint64_t applied_ = 0;  // apply()'s own, as the next
  bool filtering_now_ = true;
};

}  // namespace equalux

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

#include <equalux/filter.h>
#include <equalux/options.h>
#include <nlohmann/json_fwd.hpp>

#include "pipelines/core/processor.h"
#include "pipelines/live/recorder.h"
#include "src/common/filter_recipe.h"

/// Changes of the filters while frames move: common to the window's keys, the control socket and
/// the page.
namespace equalux {

/// A filter that may change, with its live options. Their keys are the filter's own, except those
/// that have another meaning in `equalize`: "denoise-strength".
struct Steered {
  std::size_t filter = 0;       ///< its index among the filters, from 0
  std::string name = {};        ///< of its kind: "equalize"
  std::vector<Option> options;  ///< the live ones; `read` owns their texts
  std::vector<Option> own;      ///< the same options by the filter's own keys, in the same order
  OptionValues values;          ///< of the options, in order
  /// Parses values, merged over the current ones, and returns all live ones. Throws Error(usage)
  /// for invalid values.
  std::function<OptionValues(const OptionValues& values)> read;
  /// Converts values to the filter's own keys.
  std::function<OptionValues(const OptionValues& values)> by_own_keys;
};

/// Describes the filter at an index, with its recipe. Options that the backend lacks cannot be
/// changed.
[[nodiscard]] Steered steered(std::size_t filter, const RecipePtr& recipe,
                              Backend backend = Backend::automatic);

/// A key of a request, and the addresses of the filters that took its value.
using TakenKeys = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Holds requested changes until they are applied. Thread-safe; apply() is called by the processing
/// thread. Functions that a window calls are virtual, so that they reach the program's filters from
/// a module.
class Steering {
 public:
  /// Reads the options of a preset. Throws Error(usage) for an unknown name.
  using ReadPreset = std::function<OptionValues(const std::string& name)>;
  /// Returns what of a preset this run cannot take on, in one sentence; empty = it takes all.
  using NotePreset = std::function<std::string(const std::string& name)>;

  /// `presets` are the names that next_preset() steps through; `preset` is the one that the run
  /// begins with, empty where it has none. Throws what `read_preset` throws for it.
  explicit Steering(std::vector<Steered> filters, std::vector<std::string> presets = {},
                    ReadPreset read_preset = {}, std::string preset = {});
  virtual ~Steering() = default;
  Steering(const Steering&) = delete;
  Steering& operator=(const Steering&) = delete;

  /// Options that may change, each once: for filters that share a key, the first one's.
  [[nodiscard]] const std::vector<Option>& options() const { return options_; }
  /// Returns the filters as the run began with them, in order.
  [[nodiscard]] const std::vector<Steered>& filters() const { return start_; }
  /// Returns what names each of filters() in requests and answers: "equalize", or "equalize-2" for
  /// the second one of that name.
  [[nodiscard]] const std::vector<std::string>& addresses() const { return addresses_; }

  /// Adds "recording" as a key. To be called before any other thread uses this object.
  void allow_recording(RecordSwitch& recording) { recording_ = &recording; }

  /// Names all filters there are, so that a key of one that the run lacks can be explained.
  void know_filters(std::span<const FilterInfo> all) { known_ = all; }

  /// Sets what is said of presets. To be called before any other thread uses this object.
  void note_presets(NotePreset note) { note_preset_ = std::move(note); }

  /// Tells which frames the filters take and give. Where their formats differ, an unfiltered frame
  /// cannot be passed on, so the filter stays on.
  void know_frames(const ImageDesc& taken, const ImageDesc& given);

  /// Applies an object such as {"strength":0.6,"filter":false}. Keys are those of options(), which
  /// apply to every filter that has them; "clahe.strength" for the filters of one name and
  /// "clahe-2.strength" for the second of them, which override the former; "filter"; "recording";
  /// and "preset", whose values the other keys override. In place of "preset", "reset":true
  /// restores the values and the preset that the run began with, and turns the filter on. Applies
  /// all of it or, where anything is wrong, nothing. Returns which filters took each key of a
  /// filter, in the order of the keys. Throws Error(usage).
  TakenKeys change(const nlohmann::json& wanted);

  /// Changes a number by one step, the option's or, in a long range, a tenth, in every filter that
  /// has it, each from its own value. It stops at the ends of the range; where 0 stands for no
  /// limit, that end is above 40.
  void step(std::string_view key, int direction);
  /// Changes the option for which a key of the keyboard stands by one step ('+' is '=', since both
  /// are one key on many keyboards). Returns false where no filter has an option of that key.
  /// Throws Error(usage) where only filters of know_filters() have one, or it cannot be changed.
  virtual bool step_by_key(char key);
  /// Returns the keys of a window that change something here, each with what it changes and its
  /// present value: {"[ ]", "Strength: 0.8"}. Of filters that share a key the first one's.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> key_help() const;
  /// Throws Error(usage) where presets set nothing of the filters.
  virtual void next_preset(int direction);
  /// Throws Error(usage) where the filter cannot be off.
  virtual void toggle_filter();
  /// Throws Error(usage) where the run cannot record.
  virtual void toggle_recording();
  /// False after a failure, too.
  [[nodiscard]] bool recording() const { return recording_ != nullptr && recording_->on; }

  /// Returns the current state: {"filter","preset",...} with the keys of options(), each of the
  /// first filter that has it. "preset" is the one chosen last, here or at the start, "" without
  /// one; "recording" is present if the run can record.
  [[nodiscard]] nlohmann::ordered_json state() const;
  /// Returns the values of each filter by its address and its own keys:
  /// {"equalize":{"strength":0.5,...},"denoise":{"strength":1,...}}.
  [[nodiscard]] nlohmann::ordered_json filter_states() const;
  /// Returns true where a value differs from the preset's or, without a preset, from the run's
  /// initial one.
  [[nodiscard]] bool changed() const;
  /// Returns what the current preset has and this run has not; empty where it has all.
  [[nodiscard]] std::string note() const;
  [[nodiscard]] const std::vector<std::string>& presets() const { return presets_; }
  /// Returns true where a preset can set something of the filters.
  [[nodiscard]] bool takes_presets() const;
  /// Returns the last change as a window shows it, "strength 0.85"; empty where there was none.
  [[nodiscard]] virtual std::string last_change() const;

  /// Passes changes to the processor, and marks the frame where the filter is off.
  void apply(Processor& processor, Frame& frame);

 private:
  TakenKeys set(nlohmann::json wanted, std::string told = {});
  void check_keys(const nlohmann::json& wanted) const;
  void check_address(const std::string& key) const;
  [[nodiscard]] const Option* option_for(std::size_t at, std::string_view key) const;
  [[nodiscard]] OptionValues values_for(std::size_t at, const OptionValues& wanted) const;
  [[nodiscard]] std::string with_address(std::size_t at, const std::string& message) const;
  [[nodiscard]] OptionValues values_of(const std::string& preset) const;

  const std::vector<std::string> presets_;
  const ReadPreset read_preset_;
  const std::vector<Steered> start_;
  const std::string start_preset_;
  std::vector<std::string> addresses_;  // of start_
  std::vector<Option> options_;
  std::vector<Steered> start_base_;  // values of start_preset_ alone
  RecordSwitch* recording_ = nullptr;
  std::span<const FilterInfo> known_;
  NotePreset note_preset_;
  mutable std::mutex mutex_;  // guards the members from why_on_ to last_change_
  std::string why_on_;        // why the filter cannot be off; empty where it can
  std::vector<Steered> filters_;
  std::vector<Steered> base_;  // values of preset_ alone
  std::string preset_;
  std::string note_;
  bool filtering_ = true;
  std::string last_change_;
  std::atomic<std::uint64_t> changes_{0};
  std::uint64_t applied_ = 0;  // used by apply() only
  bool filtering_now_ = true;  // used by apply() only
};

}  // namespace equalux

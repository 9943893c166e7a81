#include "src/equalize/tone/tone_control.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/common/json_text.h"
#include "src/common/state_text.h"
#include "src/equalize/saturation.h"

namespace equalux::tone {
namespace {

constexpr int kStateVersion = 1;
/// Time constant of a changed parameter.
constexpr double kEasingMs = 200;
/// Divisor of saturation and its bound in Eased and in saved states.
constexpr double kSaturationUnit = 4;
constexpr auto kSaturationSteps = static_cast<std::uint32_t>(kSaturationUnit * saturation::kOne);
/// Largest bound in that unit.
constexpr double kMostBound = saturation::kMost / saturation::kOne / kSaturationUnit;
/// Strength auto, without contrast and with it.
constexpr double kFlatStrength = 0.8;
constexpr double kSpreadStrength = 0.4;
/// min-gain auto with contrast.
constexpr double kSpreadMinGain = 0.96;
/// The largest stretch.
constexpr double kMostStretch = 16;
/// Relative distance at which a parameter takes its target.
constexpr double kArrived = 1e-3;

/// Longest plausible step. A longer one, after a gap or a change of the clock, counts once, but is
/// not kept for frames whose timestamps do not rise.
constexpr std::int64_t kLongestStepNs = 2'000'000'000;

std::uint32_t fixed(double x, std::uint32_t one) {
  return static_cast<std::uint32_t>(std::llround(x * one));
}

/// Weight of a frame in an exponential mean with a time constant.
double rate_of(double step_ms, double constant_ms) {
  return constant_ms <= 0 ? 1 : -std::expm1(-step_ms / constant_ms);
}

std::uint32_t fixed_rate(double step_ms, double constant_ms) {
  return std::max(fixed(rate_of(step_ms, constant_ms), kOne), 1U);
}

void ease(double& value, double target, double rate) {
  value += (target - value) * rate;
  if (std::abs(target - value) < kArrived * std::max(std::abs(target), kArrived)) value = target;
}

nlohmann::json json_of(const std::uint32_t* values, std::size_t n) {
  return nlohmann::json(std::vector<std::uint32_t>(values, values + n));
}

/// Reads a part of a limit, which is 0 to `most`, also on its way to another value.
double part(const nlohmann::json& from, double most = 1) {
  const auto value = from.get<double>();
  if (!(value >= 0 && value <= most)) refuse_number();
  return value;
}

void read_into(const nlohmann::json& from, std::uint32_t* values, std::size_t n) {
  if (!from.is_array() || from.size() != n) {
    throw_usage("the state is damaged: a list has the wrong length");
  }
  std::transform(from.begin(), from.end(), values,
                 [](const nlohmann::json& each) { return whole(each); });
}

void check_history(const History& history, int max_value) {
  const auto in_range = [](std::uint32_t gain) {
    return gain >= kLeastTried && gain <= kMostTried;
  };
  const auto below = [](const auto& list, std::uint32_t most) {
    return std::all_of(std::begin(list), std::end(list),
                       [most](std::uint32_t x) { return x <= most; });
  };
  // Entries above the last level are unused.
  const auto distributes = [&](const auto& list) {
    return std::is_sorted(std::begin(list), std::begin(list) + max_value + 1) &&
           below(list, kWhole);
  };
  const bool sound = in_range(history.gain) && in_range(history.exposure) && history.rate <= kOne &&
                     history.frames <= kOne && distributes(history.distribution) &&
                     distributes(history.frame) && below(history.previous, 256 * kLevel);
  if (!sound) refuse_number();
}

}  // namespace

bool shapes_curve(const EqualizeParams& params) {
  return params.strength != 1 || params.clip_limit != 0 || params.floor != 0 ||
         params.ceiling != 100 || params.stretch != 1 || params.max_gain != 0 ||
         params.min_gain != 0 || params.saturation != 1 || params.temporal_ms != 0;
}

Control::Control(const EqualizeParams& params)
    : params_(params), active_(shapes_curve(params)), target_(target_of(params)), now_(target_) {}

Control::Eased Control::target_of(const EqualizeParams& params) {
  const auto inverse = [](double x) { return x == 0 ? 0 : 1 / x; };
  const bool follows = params.saturation == kAutoSaturation;
  const bool auto_strength = params.strength == kAutoStrength;
  const bool auto_gain = params.min_gain == kAutoMinGain;
  return {auto_strength ? kSpreadStrength : params.strength,
          params.floor / 100,
          params.ceiling / 100,
          inverse(params.clip_limit),
          inverse(params.max_gain),
          auto_gain ? 0 : params.min_gain,
          (follows ? 1 : params.saturation) / kSaturationUnit,
          (follows ? params.saturation_max : 1) / kSaturationUnit,
          auto_strength ? kFlatStrength - kSpreadStrength : 0,
          auto_gain ? kSpreadMinGain : 0,
          1 / params.stretch};
}

Limits Control::limits() const {
  const auto inverse = [](double x, std::uint32_t one) { return x == 0 ? 0 : fixed(1 / x, one); };
  // On its way from 0, which is none, an inverse passes limits above 255: these count as none too.
  constexpr double kLargestClip = 255;
  constexpr double kLargestGain = 255;
  Limits limits;
  limits.strength = fixed(now_.strength, kOne);
  limits.clip = now_.inverse_clip * kLargestClip < 1 ? 0 : inverse(now_.inverse_clip, kClipOne);
  limits.floor = fixed(now_.floor, kWhole);
  limits.ceiling = fixed(now_.ceiling, kWhole);
  limits.max_gain = now_.inverse_gain * kLargestGain < 1 ? 0 : inverse(now_.inverse_gain, kOne);
  limits.min_gain = fixed(now_.min_gain, kOne);
  limits.flat_strength = fixed(now_.flat_strength, kOne);
  limits.spread_min_gain = fixed(now_.spread_min_gain, kOne);
  limits.least_span = fixed(now_.least_span, kOne);
  limits.per_part = static_cast<double>(1U << kCurveBits) / (limits.ceiling - limits.floor);
  limits.scaler = params_.scaler;
  return limits;
}

Frame Control::next(const FrameContext& context) {
  std::int64_t step_ns = step_ns_;
  if (last_pts_ns_ && context.pts_ns > *last_pts_ns_) {
    step_ns = context.pts_ns - *last_pts_ns_;
    if (step_ns <= kLongestStepNs) step_ns_ = step_ns;
  }
  last_pts_ns_ = context.pts_ns;
  const double step_ms = static_cast<double>(step_ns) / 1e6;
  Frame frame;
  frame.over_time = params_.temporal_ms != 0;
  frame.fresh = !std::exchange(continues_, frame.over_time);
  if (frame.over_time && started_) {
    const double rate = rate_of(step_ms, kEasingMs);
    ease(now_.strength, target_.strength, rate);
    ease(now_.floor, target_.floor, rate);
    ease(now_.ceiling, target_.ceiling, rate);
    ease(now_.inverse_clip, target_.inverse_clip, rate);
    ease(now_.inverse_gain, target_.inverse_gain, rate);
    ease(now_.min_gain, target_.min_gain, rate);
    ease(now_.saturation, target_.saturation, rate);
    ease(now_.saturation_max, target_.saturation_max, rate);
    ease(now_.flat_strength, target_.flat_strength, rate);
    ease(now_.spread_min_gain, target_.spread_min_gain, rate);
    ease(now_.least_span, target_.least_span, rate);
  } else {
    now_ = target_;
  }
  started_ = true;
  frame.limits = limits();
  frame.saturation = {fixed(now_.saturation, kSaturationSteps),
                      fixed(now_.saturation_max, kSaturationSteps)};
  const auto constant = [this](double own) { return own == 0 ? params_.temporal_ms : own; };
  frame.rates = {fixed_rate(step_ms, constant(params_.brighten_ms)),
                 fixed_rate(step_ms, constant(params_.darken_ms))};
  return frame;
}

void Control::update(const EqualizeParams& params) {
  params_ = params;
  active_ = shapes_curve(params);
  target_ = target_of(params);
}

void Control::reset() {
  started_ = false;
  continues_ = false;
  last_pts_ns_.reset();
}

std::string Control::save(const History& current, int max_value) const {
  const History history = continues_ ? current : History{};
  nlohmann::json state{{"version", kStateVersion},
                       {"max-value", max_value},
                       {"frames", history.frames},
                       {"gain", history.gain},
                       {"rate", history.rate},
                       {"exposure", history.exposure},
                       {"distribution", json_of(history.distribution, 256)},
                       {"frame", json_of(history.frame, 256)},
                       {"previous", json_of(history.previous, kQuantiles)},
                       {"step-ns", step_ns_},
                       {"limits",
                        {now_.strength, now_.floor, now_.ceiling, now_.inverse_clip,
                         now_.inverse_gain, now_.min_gain, now_.saturation, now_.saturation_max,
                         now_.flat_strength, now_.spread_min_gain, now_.least_span}}};
  if (history.evenness != kUnknownEvenness) state["evenness"] = history.evenness;
  if (history.ends != kUnknownEnds) state["ends"] = {history.ends.low, history.ends.high};
  if (last_pts_ns_) state["pts-ns"] = *last_pts_ns_;
  return json_text(state);
}

History Control::load(std::string_view text, int max_value) {
  try {
    const nlohmann::json state = parse_json(text);
    if (const auto& version = state.at("version"); version != kStateVersion) {
      throw_usage("the state has version " + json_text(version) + ", must be " +
                  std::to_string(kStateVersion));
    }
    if (const std::uint32_t most = whole(state.at("max-value"));
        most != static_cast<std::uint32_t>(max_value)) {
      throw_usage("the state is of frames with " + std::to_string(std::uint64_t{most} + 1) +
                  " levels, must be " + std::to_string(max_value + 1));
    }
    History history;
    history.frames = whole(state.at("frames"));
    history.gain = whole(state.at("gain"));
    history.rate = whole(state.at("rate"));
    history.exposure = whole(state.at("exposure"));
    read_into(state.at("distribution"), history.distribution, 256);
    read_into(state.at("frame"), history.frame, 256);
    read_into(state.at("previous"), history.previous, kQuantiles);
    // Curves without limits by contrast save no evenness.
    if (state.contains("evenness")) {
      history.evenness = whole(state.at("evenness"));
      if (history.evenness > kMostEvenness) refuse_number();
    }
    if (state.contains("ends")) {
      history.ends = {whole(state.at("ends").at(0)), whole(state.at("ends").at(1))};
      if (history.ends.low > history.ends.high ||
          history.ends.high > all_levels(static_cast<std::uint32_t>(max_value)).high)
        refuse_number();
    }
    check_history(history, max_value);
    history.least_rate = history.frames == 0 ? kOne : least_rate_after(history.frames);
    const auto& limits = state.at("limits");
    const Eased now{part(limits.at(0)), part(limits.at(1)), part(limits.at(2)), part(limits.at(3)),
                    part(limits.at(4)),
                    // Earlier versions saved five to ten limits.
                    limits.size() > 5 ? part(limits.at(5)) : 0,
                    limits.size() > 6 ? part(limits.at(6)) : 1 / kSaturationUnit,
                    limits.size() > 7 ? part(limits.at(7), kMostBound) : 1 / kSaturationUnit,
                    limits.size() > 8 ? part(limits.at(8)) : 0,
                    limits.size() > 9 ? part(limits.at(9)) : 0,
                    limits.size() > 10 ? part(limits.at(10)) : 1};
    if (fixed(now.floor, kWhole) >= fixed(now.ceiling, kWhole)) refuse_number();
    if (now.saturation_max < 1 / kSaturationUnit) refuse_number();
    if (now.least_span < 1 / kMostStretch) refuse_number();
    if (fixed(now.strength + now.flat_strength, kOne) > kOne) refuse_number();
    if (fixed(now.min_gain + now.spread_min_gain, kOne) > kOne) refuse_number();
    const std::int64_t step_ns = timestamp(state.at("step-ns"));
    if (step_ns < 1) refuse_number();
    std::optional<std::int64_t> last_pts_ns;
    if (state.contains("pts-ns")) last_pts_ns = timestamp(state.at("pts-ns"));
    now_ = now;
    step_ns_ = step_ns;
    last_pts_ns_ = last_pts_ns;
    started_ = true;
    continues_ = params_.temporal_ms != 0;
    return history;
  } catch (const nlohmann::json::exception& error) {
    refuse_state(error);
  }
}

}  // namespace equalux::tone

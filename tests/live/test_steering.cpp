#include <array>
#include <atomic>
#include <new>
#include <stdexcept>
#include <string>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "pipelines/control/control_api.h"
#include "pipelines/control/control_socket.h"
#include "pipelines/live/live_monitor.h"
#include "pipelines/live/steering.h"
#include "src/common/json_text.h"
#include "tests/core/engine_fixture.h"
#include "tests/support/as_nobody.h"
#include "tests/support/temp_folder.h"

namespace {
std::atomic<int> umask_calls{0};
}  // namespace

/// In place of the C library's: it holds for the whole process, whatever its threads make
/// meanwhile.
extern "C" mode_t umask(mode_t mask) noexcept {
  ++umask_calls;
  return static_cast<mode_t>(::syscall(SYS_umask, mask));
}

namespace equalux::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The filter of a spec, at a place among the filters.
Steered filter_at(std::size_t filter, const std::string& spec) {
  return steered(filter, read_recipe(parse_filter_spec(spec)));
}

const std::string kSome = "equalize:strength=0.8,clip-limit=3,temporal-ms=2000";

std::string value_of(const OptionValues& values, const std::string& key) {
  const auto at = std::find_if(values.begin(), values.end(),
                               [&key](const auto& value) { return value.first == key; });
  return at == values.end() ? "" : at->second;
}

OptionValues read_preset(const std::string& name) {
  if (name == "fog") return {{"strength", "0.9"}, {"ceiling", "99.5"}, {"threads", "3"}};
  if (name == "plain") return {};
  throw Error(ExitCode::usage, "preset is '" + name + "', must be plain or fog");
}

/// Remembers what it is told.
class ToldProcessor final : public DelayedProcessor {
 public:
  ToldProcessor() : DelayedProcessor(1) {}
  bool update(std::size_t filter, const OptionValues& options) override {
    told.emplace_back(filter, options);
    return true;
  }
  std::vector<std::pair<std::size_t, OptionValues>> told;
};

class SteeringTest : public ::testing::Test {
 protected:
  Steering steering_{
      {filter_at(0, kSome), filter_at(2, "equalize")}, {"plain", "fog"}, read_preset};
  LiveMonitor monitor_;
  ControlApi api_{steering_, monitor_};

  std::string error_text(const std::string& request) {
    const ControlAnswer answer = api_.handle(request);
    EXPECT_FALSE(answer.ok) << request;
    return parse_json(answer.json).at("error");
  }
};

TEST_F(SteeringTest, AChangeReachesEveryEqualizerOnce) {
  ToldProcessor processor;
  Frame frame;
  steering_.apply(processor, frame);
  EXPECT_TRUE(processor.told.empty());
  steering_.change({{"strength", 0.25}, {"scaler", "min-max"}});
  steering_.apply(processor, frame);
  steering_.apply(processor, frame);
  ASSERT_EQ(processor.told.size(), 2U);
  EXPECT_EQ(processor.told[0].first, 0U);
  EXPECT_EQ(value_of(processor.told[0].second, "strength"), "0.25");
  EXPECT_EQ(value_of(processor.told[0].second, "scaler"), "min-max");
  EXPECT_EQ(value_of(processor.told[0].second, "clip-limit"), "3");
  EXPECT_EQ(processor.told[1].first, 2U);
  EXPECT_EQ(value_of(processor.told[1].second, "strength"), "0.25");
  EXPECT_FALSE(frame.unfiltered);
}

TEST_F(SteeringTest, FilterOffMarksFrames) {
  ToldProcessor processor;
  steering_.toggle_filter();
  Frame off;
  steering_.apply(processor, off);
  EXPECT_TRUE(off.unfiltered);
  steering_.toggle_filter();
  Frame on;
  steering_.apply(processor, on);
  EXPECT_FALSE(on.unfiltered);
  EXPECT_EQ(steering_.last_change(), "filter on");
}

TEST_F(SteeringTest, TheFilterStaysOnWhereItChangesTheFormat) {
  ToldProcessor processor;
  steering_.change({{"filter", false}});
  steering_.know_frames({PixelFormat::i420, 64, 48}, {PixelFormat::i420, 64, 48});
  EXPECT_FALSE(steering_.state()["filter"]);
  steering_.know_frames({PixelFormat::i420, 64, 48}, {PixelFormat::gray8, 64, 48});
  EXPECT_TRUE(steering_.state()["filter"]);
  Frame frame;
  steering_.apply(processor, frame);
  EXPECT_FALSE(frame.unfiltered);
  constexpr const char* kWhy =
      "filter is false, must be true: the filters make gray8 pictures of i420";
  EXPECT_EQ(error_text(R"({"filter":false})"), kWhy);
  EXPECT_EQ(error_text(R"({"reset":true,"filter":false})"), kWhy);
  EXPECT_THROW(steering_.toggle_filter(), Error);
  steering_.change({{"reset", true}});
  EXPECT_TRUE(steering_.state()["filter"]);
}

TEST_F(SteeringTest, APresetStandsBelowTheOtherKeys) {
  steering_.change({{"preset", "fog"}, {"strength", 0.5}});
  const auto state = steering_.state();
  EXPECT_EQ(state["preset"], "fog");
  EXPECT_EQ(state["strength"], 0.5);
  EXPECT_EQ(state["ceiling"], 99.5);
  EXPECT_EQ(state["temporal-ms"], 0);  // As plain equalization has it, not as before.
}

TEST_F(SteeringTest, APresetIsReadWhileOthersGoOn) {
  const Watchdog watchdog(std::chrono::seconds(20));
  Steering* self = nullptr;
  bool reached = false;
  const auto slow = [&](const std::string& name) {
    if (self != nullptr) {  // As another thread would while a disk spins up.
      ToldProcessor processor;
      Frame frame;
      self->apply(processor, frame);
      reached = self->state()["preset"] == "plain";
    }
    return read_preset(name);
  };
  Steering steering({filter_at(0, kSome)}, {"plain", "fog"}, slow, "plain");
  steering.change({{"strength", 0.5}});
  self = &steering;
  steering.change({{"preset", "fog"}});
  EXPECT_TRUE(reached);
  EXPECT_EQ(steering.state()["preset"], "fog");
}

TEST_F(SteeringTest, ThePresetIsNamedAndSaidToBeChanged) {
  EXPECT_EQ(steering_.state()["preset"], "");
  EXPECT_FALSE(steering_.changed());
  steering_.change({{"strength", 0.25}});
  EXPECT_TRUE(steering_.changed());
  steering_.change({{"preset", "fog"}});
  EXPECT_FALSE(steering_.changed());
  steering_.step("strength", -1);
  EXPECT_TRUE(steering_.changed());
  EXPECT_EQ(parse_json(api_.handle("").json)["changed"], true);

  const std::string fog = "equalize:strength=0.9,ceiling=99.5";
  Steering started({filter_at(0, fog)}, {"plain", "fog"}, read_preset, "fog");
  EXPECT_EQ(started.state()["preset"], "fog");
  EXPECT_FALSE(started.changed());
  started.next_preset(1);
  EXPECT_EQ(started.state()["preset"], "plain");
  // As a flag beside the preset would have it.
  const Steered beside = filter_at(0, fog + ",scaler=min-max");
  EXPECT_TRUE(Steering({beside}, {"plain", "fog"}, read_preset, "fog").changed());
}

TEST_F(SteeringTest, ResetGoesBackToTheStart) {
  Steering steering({filter_at(0, kSome)}, {"plain", "fog"}, read_preset, "plain");
  const auto begun = steering.state();
  EXPECT_TRUE(steering.changed());  // By what was given beside the preset.
  steering.change({{"preset", "fog"}, {"floor", 2}});
  steering.change({{"reset", true}});
  EXPECT_EQ(steering.state(), begun);
  EXPECT_TRUE(steering.changed());
  steering.change({{"reset", true}, {"strength", 0.1}});
  EXPECT_EQ(steering.state()["strength"], 0.1);
  EXPECT_EQ(steering.state()["clip-limit"], 3);
  // A run begins with its filter on.
  steering.change({{"filter", false}});
  steering.change({{"reset", true}});
  EXPECT_EQ(steering.state(), begun);
  steering.change({{"reset", true}, {"filter", false}});
  EXPECT_EQ(steering.state()["filter"], false);
  for (const char* wrong :
       {R"({"reset":false})", R"({"reset":1})", R"({"reset":true,"preset":"fog"})"})
    EXPECT_THAT(error_text(wrong), HasSubstr("reset")) << wrong;
}

/// `equalize` whose min-gain one backend alone has.
class OneBackendRecipe final : public FilterRecipe {
 public:
  explicit OneBackendRecipe(RecipePtr recipe)
      : recipe_(std::move(recipe)), options_(recipe_->options().begin(), recipe_->options().end()) {
    for (Option& each : options_)
      if (each.key == "min-gain") each.backends = Backends::cpu;
  }
  [[nodiscard]] std::string_view name() const override { return recipe_->name(); }
  [[nodiscard]] std::span<const Option> options() const override { return options_; }
  [[nodiscard]] std::string text(std::string_view key) const override { return recipe_->text(key); }
  [[nodiscard]] RecipePtr with(const OptionValues& values) const override {
    return std::make_shared<OneBackendRecipe>(recipe_->with(values));
  }
  [[nodiscard]] std::vector<std::string> violations(Backend backend,
                                                    const ImageDesc* desc) const override {
    return recipe_->violations(backend, desc);
  }
  [[nodiscard]] bool accepts(PixelFormat format) const override { return recipe_->accepts(format); }
  [[nodiscard]] std::optional<PixelFormat> output_format() const override {
    return recipe_->output_format();
  }
  [[nodiscard]] std::unique_ptr<Filter> make(const CpuOptions& options) const override {
    return recipe_->make(options);
  }
  [[nodiscard]] std::unique_ptr<Filter> make(const CudaOptions& options) const override {
    return recipe_->make(options);
  }
  [[nodiscard]] bool retune(Filter& filter) const override { return recipe_->retune(filter); }

 private:
  RecipePtr recipe_;
  std::vector<Option> options_;
};

/// What the backend lacks is no key, so that no change that it refuses stands among the values.
TEST_F(SteeringTest, OptionsThatTheBackendLacksAreNoKeys) {
  const auto recipe = std::make_shared<OneBackendRecipe>(read_recipe(parse_filter_spec(kSome)));
  const auto has = [&recipe](Backend backend) {
    return find_option(steered(0, recipe, backend).options, "min-gain") != nullptr;
  };
  EXPECT_TRUE(has(Backend::cpu));
  EXPECT_FALSE(has(Backend::cuda));
  Steering on_cuda({steered(0, recipe, Backend::cuda)});
  EXPECT_FALSE(on_cuda.state().contains("min-gain"));
  try {
    on_cuda.change({{"min-gain", 1}});
    ADD_FAILURE() << "changed";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("min-gain"));
  }
  on_cuda.change({{"strength", 0.5}});
  EXPECT_EQ(on_cuda.state()["strength"], 0.5);
}

TEST_F(SteeringTest, SaturationIsAKeyInEverySpaceAndOfTiles) {
  const auto coloured = [](const std::string&) {
    return OptionValues{{"strength", "0.5"}, {"saturation", "auto"}};
  };
  for (const char* filter : {"equalize:space=luma", "clahe"}) {
    Steering steering({filter_at(0, filter)}, {"fog"}, coloured);
    EXPECT_EQ(steering.state()["saturation"], 1);
    steering.change({{"preset", "fog"}});
    EXPECT_EQ(steering.state()["strength"], 0.5);
    EXPECT_EQ(steering.state()["saturation"], "auto");
  }
}

TEST_F(SteeringTest, AWordStandsInPlaceOfANumber) {
  steering_.change({{"saturation", "auto"}, {"saturation-max", 3}});
  EXPECT_EQ(steering_.state()["saturation"], "auto");
  steering_.change({{"saturation-max", 2.5}});
  steering_.step("saturation", 1);  // from 1, which is nearest to it
  EXPECT_EQ(steering_.state()["saturation"], 1.1);
  steering_.change({{"saturation", "auto"}, {"saturation-max", 3}});
  EXPECT_THAT(error_text(R"({"saturation":2,"saturation-max":3})"),
              HasSubstr("saturation-max is 3 without"));
  // By itself a number takes the bound along, so that a slider can be moved off auto.
  steering_.change({{"saturation", 2}});
  EXPECT_EQ(steering_.state()["saturation-max"], 2.5);
  EXPECT_THAT(error_text(R"({"saturation-max":3})"), HasSubstr("saturation-max is 3 without"));
  steering_.change({{"saturation", "auto"}, {"saturation-max", 3}});
  EXPECT_THAT(error_text(R"({"saturation":"much"})"), HasSubstr("0 to 4, or auto"));
  steering_.change({{"saturation", 2}, {"saturation-max", 2.5}});
  EXPECT_EQ(steering_.state()["saturation"], 2);
}

TEST_F(SteeringTest, NoTimeConstantTakesThoseOfOneDirectionAlong) {
  steering_.change({{"temporal-ms", 1500}, {"darken-ms", 700}});
  EXPECT_THAT(error_text(R"({"temporal-ms":0,"darken-ms":700})"),
              HasSubstr("darken-ms is 700 without"));
  steering_.change({{"temporal-ms", 0}});
  EXPECT_EQ(steering_.state()["temporal-ms"], 0);
  EXPECT_EQ(steering_.state()["darken-ms"], 0);
}

TEST_F(SteeringTest, KeysStepAndStayInRange) {
  const auto at = [&](const char* key) { return steering_.state()[key].get<double>(); };
  steering_.step("strength", 1);
  EXPECT_EQ(at("strength"), 0.85);
  for (int i = 0; i < 30; ++i)
    steering_.step("strength", 1);
  EXPECT_EQ(at("strength"), 1);
  for (int i = 0; i < 30; ++i)
    steering_.step("clip-limit", -1);
  EXPECT_EQ(at("clip-limit"), 1);
  for (int i = 0; i < 300; ++i)
    steering_.step("clip-limit", 1);
  EXPECT_EQ(at("clip-limit"), 0);  // Above the largest limit there is none.
  steering_.step("clip-limit", -1);
  EXPECT_EQ(at("clip-limit"), 40);
  for (int i = 0; i < 99; ++i)
    steering_.step("temporal-ms", -1);
  EXPECT_EQ(at("temporal-ms"), 0);
  steering_.next_preset(1);
  EXPECT_EQ(steering_.state()["preset"], "plain");
  steering_.next_preset(1);
  EXPECT_EQ(steering_.state()["preset"], "fog");
  steering_.next_preset(1);
  EXPECT_EQ(steering_.state()["preset"], "plain");
}

TEST_F(SteeringTest, WhatIsWrongIsSaidAndChangesNothing) {
  const auto before = steering_.state();
  EXPECT_THAT(error_text("nonsense"), HasSubstr("not JSON"));
  EXPECT_THAT(error_text("[1]"), HasSubstr("must be an object"));
  EXPECT_THAT(error_text(R"({"strenght":1})"),
              HasSubstr("'strenght' is unknown, must be strength"));
  EXPECT_THAT(error_text(R"({"strength":0.1,"clip-limit":0.5})"), HasSubstr("clip-limit is 0.5"));
  EXPECT_THAT(error_text(R"({"strength":[1]})"), HasSubstr("must be a number or a text"));
  EXPECT_THAT(error_text(R"({"filter":1})"), HasSubstr("must be true or false"));
  EXPECT_THAT(error_text(R"({"preset":"../x"})"), HasSubstr("must be plain or fog"));
  EXPECT_THAT(error_text(R"({"bins":16})"), HasSubstr("'bins' is unknown"));
  EXPECT_THAT(error_text("{\"\xff\":1}"), HasSubstr("not JSON"));
  EXPECT_THAT(error_text(std::string(5000, ' ')), HasSubstr("at most 4096"));
  EXPECT_THAT(error_text(std::string(4000, '[')), HasSubstr("not JSON"));
  // Numbers that would be taken as 0 or infinity, and the first of two values, which would not
  // count.
  EXPECT_THAT(error_text(R"({"strength":1e-400})"), HasSubstr("strength is 1e-400, must be 0 or"));
  EXPECT_THAT(error_text(R"({"strength":-0.001e-400})"), HasSubstr("must be 0 or"));
  EXPECT_THAT(error_text(R"({"clip-limit":1e400})"), HasSubstr("clip-limit is 1e400, must be"));
  EXPECT_THAT(error_text(R"({"strength":0.2,"strength":0.6})"),
              HasSubstr("'strength' stands there twice, must stand there once"));
  EXPECT_EQ(steering_.state(), before);
  EXPECT_TRUE(api_.handle(R"({"strength":0e-400,"clip-limit":1.5e0})").ok);
}

TEST_F(SteeringTest, RecordingIsAKeyWhereTheRunCanRecord) {
  EXPECT_FALSE(steering_.state().contains("recording"));
  EXPECT_THAT(error_text(R"({"recording":true})"), HasSubstr("needs a run with --record"));
  EXPECT_THAT(error_of([&] { steering_.toggle_recording(); }).second,
              HasSubstr("needs a run with --record"));
  EXPECT_EQ(steering_.last_change(), "");

  RecordSwitch recording;
  steering_.allow_recording(recording);
  EXPECT_EQ(steering_.state()["recording"], false);
  EXPECT_THAT(error_text(R"({"recording":"on"})"), HasSubstr("must be true or false"));
  EXPECT_THAT(error_text(R"({"recording":true,"strength":7})"), HasSubstr("strength is 7"));
  EXPECT_FALSE(recording.on);  // All or nothing.
  steering_.change({{"recording", true}, {"strength", 0.5}});
  EXPECT_TRUE(recording.on);
  steering_.toggle_recording();
  EXPECT_FALSE(recording.on);
  EXPECT_EQ(steering_.last_change(), "recording off");
}

TEST_F(SteeringTest, AChainWithoutLiveOptionsCanOnlyBeSwitched) {
  Steering other({});
  const auto [code, text] = error_of([&] { other.change({{"strength", 1}}); });
  EXPECT_EQ(code, ExitCode::usage);
  EXPECT_THAT(text, HasSubstr("no filter that can be changed"));
  other.change({{"filter", false}});
  EXPECT_FALSE(other.state()["filter"]);
  other.step("strength", 1);  // Does nothing.
}

TEST_F(SteeringTest, EveryFilterOfTheChainHasItsOwnKeys) {
  Steering mixed({filter_at(0, "clahe"), filter_at(1, "shapes"), filter_at(3, "equalize")},
                 {"plain", "fog"}, read_preset);
  // Of filters that share a key the first one's value is told, and a change holds for all.
  EXPECT_EQ(mixed.state()["clip-limit"], 2);
  EXPECT_EQ(mixed.state()["threshold"], 8);
  mixed.change({{"clip-limit", 4}, {"threshold", 12}});
  ToldProcessor processor;
  Frame frame;
  mixed.apply(processor, frame);
  ASSERT_EQ(processor.told.size(), 3U);
  EXPECT_EQ(value_of(processor.told[0].second, "clip-limit"), "4");
  EXPECT_EQ(value_of(processor.told[1].second, "clip-limit"), "");
  EXPECT_EQ(value_of(processor.told[1].second, "threshold"), "12");
  EXPECT_EQ(value_of(processor.told[2].second, "clip-limit"), "4");
  // A preset brings back its filters' own defaults, and leaves what it is not about.
  mixed.change({{"preset", "fog"}});
  EXPECT_EQ(mixed.state()["strength"], 0.9);
  EXPECT_EQ(mixed.state()["clip-limit"], 2);
  EXPECT_EQ(mixed.state()["threshold"], 12);
  const auto wrong = error_of([&] { mixed.change({{"threshold", 2000}}); });
  EXPECT_THAT(wrong.second, HasSubstr("threshold is 2000, must be above 0 to 1000 levels"));
}

TEST_F(SteeringTest, AFilterIsAddressedByItsName) {
  Steering mixed({filter_at(0, "equalize:strength=0.5"), filter_at(1, "clahe"),
                  filter_at(3, "equalize:strength=0.9"), filter_at(4, "denoise")},
                 {"plain", "fog"}, read_preset);
  EXPECT_THAT(mixed.addresses(),
              ::testing::ElementsAre("equalize-1", "clahe", "equalize-2", "denoise"));
  const auto strengths = [&mixed] {
    const auto all = mixed.filter_states();
    std::vector<double> found;
    for (const std::string& address : mixed.addresses())
      found.push_back(all[address]["strength"]);
    return found;
  };
  EXPECT_THAT(strengths(), ::testing::ElementsAre(0.5, 1, 0.9, 1));
  // A key without an address is for all that have it, and the answer names them.
  EXPECT_EQ(mixed.change({{"strength", 0.25}}),
            (TakenKeys{{"strength", {"equalize-1", "clahe", "equalize-2"}}}));
  EXPECT_EQ(mixed.last_change(), "strength 0.25 in 3 filters");
  EXPECT_THAT(strengths(), ::testing::ElementsAre(0.25, 0.25, 0.25, 1));
  // One filter, all of a name, and one by its own key, which other filters' keys do not touch.
  EXPECT_EQ(mixed.change({{"clahe.strength", 0.3}}), (TakenKeys{{"clahe.strength", {"clahe"}}}));
  EXPECT_EQ(mixed.last_change(), "clahe.strength 0.3");
  mixed.change({{"equalize-2.strength", 0.4}, {"denoise.strength", 0.75}, {"clahe-1.floor", 2}});
  EXPECT_THAT(strengths(), ::testing::ElementsAre(0.25, 0.3, 0.4, 0.75));
  EXPECT_EQ(mixed.filter_states()["clahe"]["floor"], 2);
  EXPECT_EQ(mixed.state()["denoise-strength"], 0.75);
  EXPECT_EQ(mixed.change({{"equalize.strength", 0.6}}),
            (TakenKeys{{"equalize.strength", {"equalize-1", "equalize-2"}}}));
  EXPECT_THAT(strengths(), ::testing::ElementsAre(0.6, 0.3, 0.6, 0.75));
  // What says more about the filter counts, in whatever order it comes.
  mixed.change({{"strength", 0.1}, {"equalize.strength", 0.2}, {"equalize-1.strength", 0.3}});
  EXPECT_THAT(strengths(), ::testing::ElementsAre(0.3, 0.1, 0.2, 0.75));
  // Keys of the window step each filter from where it is.
  mixed.step("strength", 1);
  EXPECT_THAT(strengths(), ::testing::ElementsAre(0.35, 0.15, 0.25, 0.75));
  EXPECT_EQ(mixed.last_change(), "strength 0.35, 0.15, 0.25");

  const auto wrong = [&mixed](const char* key, const nlohmann::json& value) {
    return error_of([&] { mixed.change({{key, value}}); }).second;
  };
  EXPECT_EQ(wrong("vessel.low", 1),
            "filter 'vessel' of key 'vessel.low' is unknown, must be "
            "equalize-1, clahe, equalize-2 or denoise");
  EXPECT_EQ(wrong("equalize-3.strength", 1),
            "filter 'equalize-3' of key 'equalize-3.strength' is unknown, must be equalize-1");
  EXPECT_EQ(wrong("clahe.strenght", 1), "key 'strenght' of clahe is unknown, must be strength");
  EXPECT_EQ(wrong("clahe.strength", 2), "clahe.strength is 2, must be 0 to 1, or auto");
  EXPECT_THAT(wrong("clahe.spatial", 1), HasSubstr("key 'spatial' of clahe is unknown, must be "));
  EXPECT_THAT(strengths(), ::testing::ElementsAre(0.35, 0.15, 0.25, 0.75));
}

TEST_F(SteeringTest, AnAnswerTellsWhichFiltersWereSet) {
  const auto answer = [this](const char* request) {
    return nlohmann::ordered_json::parse(api_.handle(request).json);
  };
  const auto both = answer(R"({"strength":0.3,"filter":true})");
  EXPECT_EQ(both["set"].dump(), R"({"strength":["equalize-1","equalize-2"]})");
  const auto one = answer(R"({"equalize-2.strength":0.4})");
  EXPECT_EQ(one["set"].dump(), R"({"equalize-2.strength":["equalize-2"]})");
  EXPECT_EQ(one["filters"]["equalize-1"]["strength"], 0.3);
  EXPECT_EQ(one["filters"]["equalize-2"]["strength"], 0.4);
  EXPECT_EQ(one["state"]["strength"], 0.3);  // the first one's
  EXPECT_FALSE(answer("{}").contains("set"));
  EXPECT_EQ(error_text(R"({"strength":null})"), "strength is null, must be 0 to 1, or auto");
}

TEST_F(SteeringTest, PresetsAreNothingForOtherFilters) {
  Steering shapes({filter_at(0, "shapes")}, {"plain", "fog"}, read_preset, "fog");
  EXPECT_FALSE(shapes.takes_presets());
  EXPECT_FALSE(shapes.changed());
  EXPECT_THAT(error_of([&] {
                shapes.change({{"preset", "fog"}});
              }).second,
              HasSubstr("nothing that presets set"));
  EXPECT_THAT(error_of([&] { shapes.next_preset(1); }).second,
              HasSubstr("nothing that presets set"));
  EXPECT_EQ(nlohmann::json::parse(ControlApi(shapes, monitor_).handle("").json)["presets"].size(),
            0U);
  shapes.step("line-ratio", 1);
  EXPECT_EQ(shapes.state()["line-ratio"], 0.35);
}

TEST_F(SteeringTest, WhatIsNotSetIsNull) {
  Steering vessel({filter_at(0, "vessel")});
  EXPECT_TRUE(vessel.state()["low"].is_null());
  vessel.step("low", 1);  // From nowhere.
  EXPECT_TRUE(vessel.state()["low"].is_null());
  vessel.change({{"low", 0.05}, {"min-size", 20}});
  EXPECT_EQ(vessel.state()["low"], 0.05);
  EXPECT_EQ(vessel.state()["min-size"], 20);
  vessel.change({{"low", nullptr}});
  EXPECT_TRUE(vessel.state()["low"].is_null());
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

/// A caller of the control socket.
class Caller {
 public:
  explicit Caller(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    const sockaddr_un address = address_of(path);
    connected = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Caller() { ::close(fd_); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  void say(const std::string& text) const {
    ASSERT_EQ(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  void hang_up_sending() const { ::shutdown(fd_, SHUT_WR); }
  /// The next line, empty at the end.
  std::string hear() {
    for (;;) {
      if (const std::size_t end = heard_.find('\n'); end != std::string::npos) {
        const std::string line = heard_.substr(0, end);
        heard_.erase(0, end + 1);
        return line;
      }
      std::array<char, 4096> bytes{};
      const ssize_t count = ::recv(fd_, bytes.data(), bytes.size(), 0);
      if (count <= 0) return {};
      heard_.append(bytes.data(), static_cast<std::size_t>(count));
    }
  }
  bool connected = false;

 private:
  int fd_;
  std::string heard_;
};

TEST_F(SteeringTest, TheSocketTakesLinesFromManyCallers) {
  const Watchdog watchdog(std::chrono::seconds(20));
  const TempFolder folder;
  const std::string path = folder / "control";
  {
    const auto socket = open_control_socket(path, api_);
    struct stat file {};
    ASSERT_EQ(::stat(path.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777U, 0600U);
    Caller first(path);
    Caller second(path);
    ASSERT_TRUE(first.connected && second.connected);
    first.say("{\"stren");
    second.say("{\"clip-limit\":5}\n{\"strength\":7}\n");
    EXPECT_EQ(parse_json(second.hear())["state"]["clip-limit"], 5);
    EXPECT_THAT(second.hear(), HasSubstr("strength is 7"));
    first.say("gth\":0.5}");
    first.hang_up_sending();
    EXPECT_EQ(parse_json(first.hear())["state"]["strength"], 0.5);
    EXPECT_EQ(first.hear(), "");
    Caller endless(path);
    endless.say(std::string(6000, 'x'));
    EXPECT_THAT(endless.hear(), HasSubstr("at most 4096"));
    const auto [code, text] = error_of([&] { (void)open_control_socket(path, api_); });
    EXPECT_EQ(code, ExitCode::cannot_create);
    EXPECT_THAT(text, HasSubstr("another program listens there"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(SteeringTest, TheSocketLeavesTheProcessMaskAlone) {
  const TempFolder folder;
  const int before = umask_calls;
  const auto socket = open_control_socket(folder / "control", api_);
  EXPECT_EQ(umask_calls, before);
  struct stat file {};
  ASSERT_EQ(::stat((folder / "control").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777U, 0600U);
}

TEST_F(SteeringTest, WhateverAPresetThrowsIsAnAnswer) {
  const Watchdog watchdog(std::chrono::seconds(20));
  const TempFolder folder;
  Steering steering({filter_at(0, kSome)}, {"short", "odd"}, [](const std::string& name) {
    if (name == "short") throw std::bad_alloc();
    if (name == "odd") throw std::runtime_error("the disk is gone");
    return read_preset(name);
  });
  ControlApi api(steering, monitor_);
  const auto socket = open_control_socket(folder / "control", api);
  Caller caller(folder / "control");
  ASSERT_TRUE(caller.connected);
  caller.say("{\"preset\":\"odd\"}\n{\"preset\":\"short\"}\n{\"strength\":0.5}\n");
  EXPECT_THAT(caller.hear(), HasSubstr("the disk is gone"));
  EXPECT_THAT(caller.hear(), HasSubstr("\"error\":"));
  EXPECT_EQ(parse_json(caller.hear())["state"]["strength"], 0.5);
}

/// A socket of another program, bound to a path.
class OtherSocket {
 public:
  OtherSocket(int type, const std::string& path) : fd_(::socket(AF_UNIX, type, 0)) {
    const sockaddr_un address = address_of(path);
    bound = ::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~OtherSocket() { ::close(fd_); }
  OtherSocket(const OtherSocket&) = delete;
  OtherSocket& operator=(const OtherSocket&) = delete;

  void listen(int most) const { ASSERT_EQ(::listen(fd_, most), 0); }
  bool bound = false;

 private:
  int fd_;
};

TEST_F(SteeringTest, SocketsOfOtherProgramsStay) {
  const Watchdog watchdog(std::chrono::seconds(20));
  const TempFolder folder;
  const auto refusal = [&](const std::string& path) {
    const auto [code, text] = error_of([&] { (void)open_control_socket(path, api_); });
    EXPECT_EQ(code, ExitCode::cannot_create) << text;
    EXPECT_TRUE(std::filesystem::exists(path)) << path;
    return text;
  };
  const OtherSocket datagrams(SOCK_DGRAM, folder / "datagrams");
  ASSERT_TRUE(datagrams.bound);
  EXPECT_THAT(refusal(folder / "datagrams"), HasSubstr("another program listens there"));

  const OtherSocket busy(SOCK_STREAM, folder / "busy");
  ASSERT_TRUE(busy.bound);
  busy.listen(0);
  const Caller waiting(folder / "busy");
  ASSERT_TRUE(waiting.connected);
  EXPECT_THAT(refusal(folder / "busy"), HasSubstr("another program listens there"));

  // Another user's, in a folder where everybody may remove files.
  const OtherSocket closed(SOCK_STREAM, folder / "closed");
  ASSERT_TRUE(closed.bound);
  closed.listen(1);
  ASSERT_EQ(::chmod((folder / "closed").c_str(), 0), 0);
  ASSERT_EQ(::chmod((folder / "").c_str(), 0777), 0);
  const AsNobody nobody;
  EXPECT_THAT(refusal(folder / "closed"), HasSubstr("Permission denied"));
}

TEST_F(SteeringTest, TheEndLeavesTheSocketThatTookThePath) {
  const TempFolder folder;
  auto first = open_control_socket(folder / "control", api_);
  std::filesystem::remove(folder / "control");
  const auto second = open_control_socket(folder / "control", api_);
  first.reset();
  EXPECT_TRUE(Caller(folder / "control").connected);
}

TEST_F(SteeringTest, TheSocketsPathIsChecked) {
  const TempFolder folder;
  const auto code_of = [&](const std::string& path) {
    return error_of([&] { (void)open_control_socket(path, api_); }).first;
  };
  write_file(folder / "precious", "text");
  EXPECT_EQ(code_of(folder / "precious"), ExitCode::usage);
  EXPECT_EQ(read_file(folder / "precious"), "text");
  EXPECT_EQ(code_of(folder / std::string(200, 'x')), ExitCode::usage);
  EXPECT_EQ(code_of(folder / "none/control"), ExitCode::cannot_create);
  // What a killed program left behind is in nobody's way.
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (folder / "stale").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
  EXPECT_EQ(code_of(folder / "stale"), ExitCode::done);
}

Frame measured_frame(bool late) {
  Frame frame;
  frame.timings.latency_ms = 4;
  frame.timings.dropped_before = 1;
  frame.timings.late = late;
  frame.timings.reconnects = 2;
  frame.timings.stages = {{"histogram", 1.5}};
  return frame;
}

/// A clock that goes where the test puts it.
struct SetClock {
  Clock::time_point now = Clock::now();
  std::function<Clock::time_point()> hands = [this] { return now; };
};

TEST(LiveMonitor, CountsForPeopleAndPrometheus) {
  SetClock clock;
  LiveMonitor monitor(clock.hands);
  StreamInfo info;
  info.name = "camera:0";
  info.desc = small_desc();
  monitor.open(info);
  monitor.add(measured_frame(false));
  Frame placeholder;
  placeholder.placeholder = true;
  placeholder.timings.reconnects = 2;
  monitor.add(placeholder);
  clock.now += std::chrono::milliseconds(1250);
  monitor.add(measured_frame(true));
  const auto counters = monitor.counters();
  EXPECT_EQ(counters["input"], "camera:0");
  EXPECT_EQ(counters["frames"], 3);
  EXPECT_EQ(counters["captured"], 4);
  EXPECT_EQ(counters["dropped"], 2);
  EXPECT_EQ(counters["late"], 1);
  EXPECT_EQ(counters["reconnects"], 2);
  EXPECT_EQ(counters["placeholders"], 1);
  EXPECT_DOUBLE_EQ(counters["fps"].get<double>(), 1.6);
  EXPECT_DOUBLE_EQ(counters["uptime_s"].get<double>(), 1.25);
  EXPECT_EQ(counters["latency_ms"], 4);
  EXPECT_EQ(counters["stages"]["histogram"], 1.5);
  const std::string metrics = monitor.metrics();
  EXPECT_THAT(metrics, HasSubstr("# TYPE equalux_frames_total counter\nequalux_frames_total 3\n"));
  EXPECT_THAT(metrics, HasSubstr("equalux_stage_seconds{stage=\"histogram\"} 0.0015\n"));
  EXPECT_THAT(metrics, HasSubstr("equalux_latency_seconds 0.004\n"));
  EXPECT_THAT(metrics, HasSubstr("equalux_uptime_seconds 1.25\n"));
}

TEST(LiveMonitor, CountsWhatIsRecorded) {
  LiveMonitor monitor;
  EXPECT_FALSE(monitor.counters().contains("recording"));
  EXPECT_THAT(monitor.metrics(), Not(HasSubstr("recording")));
  monitor.watch_recording([] { return RecordCounts{90, 2, 3}; });
  EXPECT_EQ(monitor.counters()["recording"]["frames"], 90);
  EXPECT_THAT(monitor.metrics(), HasSubstr("equalux_recorded_frames_total 90\n"));
  EXPECT_THAT(monitor.metrics(), HasSubstr("equalux_recording_dropped_frames_total 2\n"));
  EXPECT_THAT(monitor.metrics(), HasSubstr("equalux_recording_files_total 3\n"));
  EXPECT_THAT(monitor.metrics(), HasSubstr("equalux_recording_failed 0\n"));
  EXPECT_FALSE(monitor.counters()["recording"].contains("failure"));
  monitor.watch_recording([] { return RecordCounts{90, 2, 3, "the disk is full"}; });
  EXPECT_EQ(monitor.counters()["recording"]["failure"], "the disk is full");
  EXPECT_THAT(monitor.metrics(), HasSubstr("equalux_recording_failed 1\n"));
}

TEST(LiveMonitor, PicturesAreKeptOnlyForThoseWhoAsk) {
  SetClock clock;
  LiveMonitor monitor(clock.hands);
  Image before(small_desc());
  Image after(small_desc());
  fill_bytes(before.view(), 10);
  fill_bytes(after.view(), 20);
  Frame frame;
  frame.image = std::as_const(after).view();
  frame.original = FramePtr(new Frame);
  frame.original->image = std::as_const(before).view();
  monitor.add(frame);
  EXPECT_EQ(monitor.pictures(), nullptr);  // Nobody had asked.
  monitor.add(frame);
  const auto pair = monitor.pictures();
  ASSERT_NE(pair, nullptr);
  EXPECT_EQ(pair->before.view().row(0, 3)[5], 10);
  EXPECT_EQ(pair->after.view().row(0, 3)[5], 20);
  monitor.add(frame);
  EXPECT_EQ(monitor.pictures(), pair);  // Sooner than 15 a second.
  clock.now += std::chrono::milliseconds(70);
  monitor.add(frame);
  EXPECT_NE(monitor.pictures(), pair);
  clock.now += std::chrono::minutes(10);
  monitor.add(frame);
  EXPECT_EQ(monitor.pictures(), nullptr);  // Not the one of ten minutes ago.
  monitor.add(frame);
  EXPECT_NE(monitor.pictures(), nullptr);
}

TEST(SteeringOfDenoise, HasAStrengthOfItsOwnThatPresetsLeaveAlone) {
  Steering steering({filter_at(0, "denoise:strength=0.5"), filter_at(1, kSome)}, {"plain", "fog"},
                    read_preset);
  EXPECT_EQ(steering.state()["denoise-strength"], 0.5);
  EXPECT_EQ(steering.state()["strength"], 0.8);
  EXPECT_EQ(steering.state()["temporal"], 24);
  steering.change({{"preset", "fog"}});
  EXPECT_EQ(steering.state()["strength"], 0.9);
  EXPECT_EQ(steering.state()["denoise-strength"], 0.5);
  steering.change({{"denoise-strength", 0.75}});
  EXPECT_EQ(steering.state()["strength"], 0.9);
  // An error is of the key that was given.
  const auto wrong = [&steering](const char* key, const nlohmann::json& value) {
    return error_of([&] { steering.change({{key, value}}); }).second;
  };
  EXPECT_EQ(wrong("denoise-strength", 2), "denoise-strength is 2, must be 0 to 1");
  EXPECT_EQ(wrong("denoise-strength", "x"), "denoise-strength is 'x', must be a number, 0 to 1");
  EXPECT_EQ(wrong("strength", 2), "strength is 2, must be 0 to 1, or auto");
  EXPECT_EQ(wrong("spatial", 2), "spatial is 2, must be 0 to 1");

  // A window has keys of its own for it.
  const Option* const strength = find_option(steering.options(), "denoise-strength");
  ASSERT_NE(strength, nullptr);
  EXPECT_EQ(strength->keys, "{}");
  EXPECT_EQ(find_option(steering.options(), "strength")->keys, "[]");

  ToldProcessor processor;
  Frame frame;
  steering.apply(processor, frame);
  ASSERT_EQ(processor.told.size(), 2U);
  EXPECT_EQ(value_of(processor.told[0].second, "strength"), "0.75");
  EXPECT_EQ(value_of(processor.told[0].second, "temporal"), "24");
  EXPECT_EQ(value_of(processor.told[1].second, "strength"), "0.9");
}

}  // namespace
}  // namespace equalux::test

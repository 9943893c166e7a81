#include "pipelines/control/control_api.h"

#include <algorithm>
#include <string>
#include <vector>

#include <equalux/error.h>
#include <nlohmann/json.hpp>

#include "src/common/json_text.h"

namespace equalux {
namespace {

ControlAnswer refusal(const std::string& why) {
  return {false, json_text(nlohmann::json{{"error", why}})};
}

/// Finds what a parsed request no longer shows: a key that stands there twice, of which only the
/// last value would count, and numbers beyond those of a double.
class RequestCheck final : public nlohmann::json_sax<nlohmann::json> {
 public:
  /// Returns what is wrong; empty = nothing.
  [[nodiscard]] const std::string& fault() const { return fault_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t value, const string_t& text) override {
    const std::string digits = text.substr(0, text.find_first_of("eE"));
    if (value != 0 || digits.find_first_of("123456789") == std::string::npos) return true;
    return refuse(key_ + " is " + text + ", must be 0 or a number that is further from it");
  }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ > 0; }
  bool key(string_t& key) override {
    if (depth_ > 1) return true;
    key_ = key.substr(0, kMostOfAKey);
    if (std::find(keys_.begin(), keys_.end(), key) != keys_.end())
      return refuse("key '" + key_ + "' stands there twice, must stand there once");
    keys_.push_back(key);
    return true;
  }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ > 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(std::size_t, const std::string& text,
                   const nlohmann::json::exception& error) override {
    constexpr int kNumberOverflow = 406;
    if (error.id == kNumberOverflow) {
      return refuse((key_.empty() ? "a number" : key_) + " is " + text.substr(0, kMostOfAKey) +
                    ", must be a number up to 1.8e308");
    }
    return refuse("not JSON, must be an object as {\"strength\":0.5}");
  }

 private:
  static constexpr std::size_t kMostOfAKey = 40;

  bool refuse(std::string why) {
    if (fault_.empty()) fault_ = std::move(why);
    return false;
  }

  std::string fault_;
  std::string key_;
  std::vector<std::string> keys_;
  int depth_ = 0;
};

}  // namespace

ControlAnswer ControlApi::handle(std::string_view request) {
  if (request.size() > kLongestRequest) {
    return refusal("the request has " + std::to_string(request.size()) +
                   " bytes, must be at most " + std::to_string(kLongestRequest));
  }
  nlohmann::ordered_json set = nlohmann::ordered_json::object();
  try {
    if (request.find_first_not_of(" \t\r\n") != std::string_view::npos) {
      RequestCheck check;
      nlohmann::json::sax_parse(request, &check);
      if (!check.fault().empty()) return refusal(check.fault());
      const nlohmann::json wanted = parse_json(request);
      if (!wanted.is_object() || !wanted.empty()) {
        for (auto& [key, filters] : steering_.change(wanted))
          set[key] = std::move(filters);
      }
    }
  } catch (const Error& error) {
    return refusal(error.what());
  } catch (const std::exception& error) {  // from JSON, a preset's folder, or memory
    return refusal(error.what());
  }
  nlohmann::ordered_json answer{{"state", steering_.state()},
                                {"filters", steering_.filter_states()},
                                {"changed", steering_.changed()},
                                {"counters", monitor_.counters()},
                                {"presets", nlohmann::json::array()}};
  if (steering_.takes_presets()) answer["presets"] = steering_.presets();
  if (std::string note = steering_.note(); !note.empty()) answer["note"] = std::move(note);
  if (!set.empty()) answer["set"] = std::move(set);
  return {true, json_text(answer)};
}

}  // namespace equalux

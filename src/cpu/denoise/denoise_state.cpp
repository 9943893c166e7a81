#include "src/cpu/denoise/denoise_state.h"

#include <bit>
#include <cstring>
#include <limits>

#include <nlohmann/json.hpp>

#include "src/common/base64.h"
#include "src/common/json_text.h"
#include "src/common/option_values.h"

namespace equalux::denoise {
namespace {

static_assert(std::endian::native == std::endian::little, "states are written as they lie");

constexpr int kStateVersion = 1;
constexpr std::array<const char*, 3> kKinds{"frames", "top-fields", "bottom-fields"};

template <typename Sample>
std::string tight_bytes(const Plane<Sample>& plane) {
  const auto row_bytes = static_cast<std::size_t>(plane.width()) * sizeof(Sample);
  std::string bytes(row_bytes * static_cast<std::size_t>(plane.height()), '\0');
  for (int y = 0; y < plane.height(); ++y)
    std::memcpy(bytes.data() + static_cast<std::size_t>(y) * row_bytes, plane.row(y), row_bytes);
  return bytes;
}

/// Fills a plane; throws where a sample is above `most`, with which loops would read beyond tables.
template <typename Sample>
void fill(std::string_view bytes, int most, Plane<Sample>& plane) {
  const auto row_bytes = static_cast<std::size_t>(plane.width()) * sizeof(Sample);
  if (bytes.size() != row_bytes * static_cast<std::size_t>(plane.height()))
    throw_usage("the state cannot be read: a plane has the wrong size");
  for (int y = 0; y < plane.height(); ++y) {
    std::memcpy(plane.row(y), bytes.data() + static_cast<std::size_t>(y) * row_bytes, row_bytes);
    for (int x = 0; x < plane.width(); ++x) {
      const int sample = plane.row(y)[x];
      if (sample < 0 || sample > most)
        throw_usage("the state cannot be read: a sample is " + std::to_string(sample) +
                    ", must be 0 to " + std::to_string(most));
    }
  }
}

nlohmann::json json_of(const PictureSequence& sequence) {
  nlohmann::json components = nlohmann::json::array();
  for (const Knowledge& each : sequence.knowledge()) {
    components.push_back({{"estimate", base64_text(tight_bytes(each.estimate))},
                          {"weight", base64_text(tight_bytes(each.weight))},
                          {"noise", base64_text(each.noise.bytes())}});
  }
  const std::vector<Vector>& vectors = sequence.field().vectors;
  const std::string_view bytes(reinterpret_cast<const char*>(vectors.data()),
                               vectors.size() * sizeof(Vector));
  return {{"pictures", sequence.pictures()},
          {"vectors", base64_text(bytes)},
          {"components", components}};
}

std::string bytes_of(const nlohmann::json& text) {
  std::optional<std::string> bytes = base64_bytes(text.get<std::string>());
  if (!bytes) throw_usage("the state cannot be read: its samples are no base64");
  return std::move(*bytes);
}

std::uint32_t pictures_of(const nlohmann::json& number) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (!number.is_number_unsigned() || number == 0 || number.get<std::uint64_t>() > kMost) {
    throw_usage("the state cannot be read: pictures is " + json_text(number) +
                ", must be a whole number from 1 to " + std::to_string(kMost));
  }
  return number.get<std::uint32_t>();
}

SavedSequence sequence_of(const nlohmann::json& json) {
  SavedSequence sequence{pictures_of(json.at("pictures")), bytes_of(json.at("vectors")), {}};
  for (const nlohmann::json& each : json.at("components")) {
    sequence.components.push_back(
        {bytes_of(each.at("estimate")), bytes_of(each.at("weight")), bytes_of(each.at("noise"))});
  }
  return sequence;
}

}  // namespace

std::string save_sequences(const ImageDesc& desc,
                           const std::array<const PictureSequence*, 3>& sequences) {
  nlohmann::json state{{"version", kStateVersion},
                       {"format", to_string(desc.format)},
                       {"size", {desc.width, desc.height}}};
  bool any = false;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    if (sequences[i] == nullptr || sequences[i]->pictures() == 0) continue;
    state[kKinds[i]] = json_of(*sequences[i]);
    any = true;
  }
  return any ? json_text(state) : "{}";
}

SavedSequences read_sequences(std::string_view state, const ImageDesc& desc) {
  try {
    const nlohmann::json all = parse_json(state);
    if (all == nlohmann::json::object()) return {};
    if (const auto& version = all.at("version"); version != kStateVersion) {
      throw_usage("the state has version " + json_text(version) + ", must be " +
                  std::to_string(kStateVersion));
    }
    const nlohmann::json size{desc.width, desc.height};
    if (all.at("format") != to_string(desc.format) || all.at("size") != size) {
      throw_usage("the state is of " + json_text(all.at("format")) + " " +
                  json_text(all.at("size")) + ", must be of \"" +
                  std::string(to_string(desc.format)) + "\" " + json_text(size));
    }
    if (desc.height == 1 && all.contains(kKinds[2]))
      throw_usage("the state cannot be read: frames of one row have no bottom fields");
    SavedSequences saved;
    for (std::size_t i = 0; i < saved.size(); ++i)
      if (all.contains(kKinds[i])) saved[i] = sequence_of(all.at(kKinds[i]));
    return saved;
  } catch (const nlohmann::json::exception& error) {
    throw_usage(std::string("the state cannot be read: ") + error.what());
  }
}

void resume(const SavedSequence& saved, PictureSequence& sequence) {
  sequence.resume(saved.pictures, [&](std::vector<Knowledge>& known, MotionField& field) {
    if (saved.components.size() != known.size() ||
        saved.vectors.size() != field.vectors.size() * sizeof(Vector)) {
      throw_usage("the state cannot be read: it is of other components");
    }
    for (std::size_t i = 0; i < known.size(); ++i) {
      const SavedSequence::SavedComponent& from = saved.components[i];
      fill(from.estimate, kSampleMost, known[i].estimate);
      fill(from.weight, kWeights - 1, known[i].weight);
      if (!known[i].noise.set_bytes(from.noise))
        throw_usage("the state cannot be read: its noise has the wrong size");
    }
    std::memcpy(field.vectors.data(), saved.vectors.data(), saved.vectors.size());
  });
}

}  // namespace equalux::denoise

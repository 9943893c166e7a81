#include "src/denoise/saved_sequences.h"

#include <bit>
#include <cstring>
#include <limits>

#include <nlohmann/json.hpp>

#include "src/common/base64.h"
#include "src/common/json_text.h"
#include "src/common/state_text.h"
#include "src/denoise/motion_math.h"
#include "src/denoise/noise_estimate.h"
#include "src/options/option_values.h"

namespace equalux::denoise {
namespace {

static_assert(std::endian::native == std::endian::little, "states are written as they lie");

/// The noise's bytes have this version's number of equal parts: fine textures, coarse textures,
/// residuals and swings. States of earlier versions lack the last ones.
constexpr int kStateVersion = 4;
constexpr std::array<const char*, 3> kKinds{"frames", "top-fields", "bottom-fields"};

/// Throws where a plane has the wrong number of samples, of `size` bytes each, or one above `most`.
void check_plane(std::string_view bytes, const ComponentShape& shape, std::size_t size, int most) {
  const auto samples =
      static_cast<std::size_t>(shape.columns) * static_cast<std::size_t>(shape.rows);
  if (bytes.size() != samples * size)
    throw_usage("the state cannot be read: a plane has the wrong size");
  for (std::size_t i = 0; i < samples; ++i) {
    std::int16_t sample = 0;
    std::memcpy(&sample, bytes.data() + i * size, size);
    if (sample < 0 || sample > most)
      throw_usage("the state cannot be read: a sample is " + std::to_string(sample) +
                  ", must be 0 to " + std::to_string(most));
  }
}

nlohmann::json json_of(const SavedSequence& sequence) {
  nlohmann::json components = nlohmann::json::array();
  for (const SavedSequence::SavedComponent& each : sequence.components) {
    components.push_back({{"estimate", base64_text(each.estimate)},
                          {"weight", base64_text(each.weight)},
                          {"noise", base64_text(each.noise)}});
  }
  return {{"pictures", sequence.pictures},
          {"vectors", base64_text(sequence.vectors)},
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

std::string state_text(const ImageDesc& desc, const SavedSequences& sequences) {
  nlohmann::json state{{"version", kStateVersion},
                       {"format", to_string(desc.format)},
                       {"size", {desc.width, desc.height}}};
  bool any = false;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    if (!sequences[i]) continue;
    state[kKinds[i]] = json_of(*sequences[i]);
    any = true;
  }
  return any ? json_text(state) : "{}";
}

SavedSequences read_sequences(std::string_view state, const ImageDesc& desc) {
  try {
    const nlohmann::json all = parse_json(state);
    if (all == nlohmann::json::object()) return {};
    const nlohmann::json& version = all.at("version");
    if (version != 1 && version != 2 && version != 3 && version != kStateVersion) {
      throw_usage("the state has version " + json_text(version) + ", must be 1 to " +
                  std::to_string(kStateVersion));
    }
    const auto parts = version.get<std::size_t>();
    const nlohmann::json size{desc.width, desc.height};
    if (all.at("format") != to_string(desc.format) || all.at("size") != size) {
      throw_usage("the state is of " + json_text(all.at("format")) + " " +
                  json_text(all.at("size")) + ", must be of \"" +
                  std::string(to_string(desc.format)) + "\" " + json_text(size));
    }
    if (desc.height == 1 && all.contains(kKinds[2]))
      throw_usage("the state cannot be read: frames of one row have no bottom fields");
    SavedSequences saved;
    for (std::size_t i = 0; i < saved.size(); ++i) {
      if (!all.contains(kKinds[i])) continue;
      saved[i] = sequence_of(all.at(kKinds[i]));
      for (SavedSequence::SavedComponent& each : saved[i]->components)
        each.noise.resize(each.noise.size() / parts * kStateVersion + each.noise.size() % parts);
    }
    return saved;
  } catch (const nlohmann::json::exception& error) {
    refuse_state(error);
  }
}

void check(const SavedSequence& saved, std::span<const ComponentShape> components) {
  const auto blocks = static_cast<std::size_t>(blocks_of(components[0].columns)) *
                      static_cast<std::size_t>(blocks_of(components[0].rows));
  if (saved.components.size() != components.size() ||
      saved.vectors.size() != blocks * sizeof(Vector)) {
    throw_usage("the state cannot be read: it is of other components");
  }
  for (std::size_t i = 0; i < components.size(); ++i) {
    const SavedSequence::SavedComponent& each = saved.components[i];
    check_plane(each.estimate, components[i], sizeof(std::int16_t), kSampleMost);
    check_plane(each.weight, components[i], sizeof(std::uint8_t), kWeights - 1);
    const bool alike = each.noise.size() == saved.components[0].noise.size();
    if (NoiseEstimate noise; !alike || !noise.set_bytes(each.noise))
      throw_usage("the state cannot be read: its noise has the wrong size");
  }
}

}  // namespace equalux::denoise

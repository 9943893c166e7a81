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
/// residuals, swings and changes. States of earlier versions lack the last ones, and the trends.
constexpr int kStateVersion = 5;
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

/// Throws where a component has trends without noise or of another number of blocks, or values that
/// are no trends.
void check_trends(std::string_view bytes, const ComponentShape& shape, bool noise_known) {
  const auto blocks = shape.chroma || !noise_known
                          ? std::size_t{0}
                          : static_cast<std::size_t>(noise_blocks(shape.columns, shape.rows));
  if (!bytes.empty() && bytes.size() != blocks)
    throw_usage("the state cannot be read: its trends have the wrong size");
  for (const char each : bytes) {
    if (static_cast<unsigned char>(each) > static_cast<unsigned char>(Trend::rises)) {
      throw_usage("the state cannot be read: a trend is " +
                  std::to_string(static_cast<unsigned char>(each)) + ", must be 0 to 2");
    }
  }
}

nlohmann::json json_of(const SavedSequence& sequence) {
  nlohmann::json components = nlohmann::json::array();
  for (const SavedSequence::SavedComponent& each : sequence.components) {
    components.push_back({{"estimate", base64_text(each.estimate)},
                          {"weight", base64_text(each.weight)},
                          {"noise", base64_text(each.noise)},
                          {"trends", base64_text(each.trends)}});
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

/// Reads a sequence from a state of this version.
SavedSequence sequence_of(const nlohmann::json& json, int version) {
  SavedSequence sequence{pictures_of(json.at("pictures")), bytes_of(json.at("vectors")), {}};
  for (const nlohmann::json& each : json.at("components")) {
    SavedSequence::SavedComponent& component = sequence.components.emplace_back();
    component.estimate = bytes_of(each.at("estimate"));
    component.weight = bytes_of(each.at("weight"));
    component.noise = bytes_of(each.at("noise"));
    if (version == kStateVersion) component.trends = bytes_of(each.at("trends"));
    const std::size_t size = component.noise.size();
    const auto parts = static_cast<std::size_t>(version);
    component.noise.resize(size / parts * kStateVersion + size % parts);
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
    const nlohmann::json& number = all.at("version");
    int version = kStateVersion;
    while (version > 0 && number != version)
      --version;
    if (version == 0) {
      throw_usage("the state has version " + json_text(number) + ", must be 1 to " +
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
    for (std::size_t i = 0; i < saved.size(); ++i) {
      if (all.contains(kKinds[i])) saved[i] = sequence_of(all.at(kKinds[i]), version);
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
    check_trends(each.trends, components[i], !each.noise.empty());
  }
}

}  // namespace equalux::denoise

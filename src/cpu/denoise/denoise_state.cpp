#include "src/cpu/denoise/denoise_state.h"

#include <algorithm>
#include <cstring>

namespace equalux::denoise {
namespace {

template <typename Sample>
std::string tight_bytes(const Plane<Sample>& plane) {
  const auto row_bytes = static_cast<std::size_t>(plane.width()) * sizeof(Sample);
  std::string bytes(row_bytes * static_cast<std::size_t>(plane.height()), '\0');
  for (int y = 0; y < plane.height(); ++y)
    std::memcpy(bytes.data() + static_cast<std::size_t>(y) * row_bytes, plane.row(y), row_bytes);
  return bytes;
}

template <typename Sample>
void fill(std::string_view bytes, Plane<Sample>& plane) {
  const auto row_bytes = static_cast<std::size_t>(plane.width()) * sizeof(Sample);
  for (int y = 0; y < plane.height(); ++y)
    std::memcpy(plane.row(y), bytes.data() + static_cast<std::size_t>(y) * row_bytes, row_bytes);
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

SavedSequence saved_of(const PictureSequence& sequence) {
  SavedSequence saved;
  saved.pictures = sequence.pictures();
  saved.vectors = bytes_of(sequence.field().vectors);
  for (const Knowledge& each : sequence.knowledge()) {
    saved.components.push_back(
        {tight_bytes(each.estimate), tight_bytes(each.weight), each.noise.bytes(), {}});
    if (each.noise.known()) saved.components.back().trends = bytes_of(each.trends);
  }
  return saved;
}

}  // namespace

std::string save_sequences(const ImageDesc& desc,
                           const std::array<const PictureSequence*, 3>& sequences) {
  SavedSequences saved;
  for (std::size_t i = 0; i < saved.size(); ++i)
    if (sequences[i] != nullptr && sequences[i]->pictures() != 0)
      saved[i] = saved_of(*sequences[i]);
  return state_text(desc, saved);
}

void resume(const SavedSequence& saved, PictureSequence& sequence) {
  check(saved, sequence.components());
  sequence.resume(saved.pictures, [&](std::vector<Knowledge>& known, MotionField& field) {
    for (std::size_t i = 0; i < known.size(); ++i) {
      fill(saved.components[i].estimate, known[i].estimate);
      fill(saved.components[i].weight, known[i].weight);
      static_cast<void>(known[i].noise.set_bytes(saved.components[i].noise));
      std::ranges::transform(saved.components[i].trends, known[i].trends.begin(),
                             [](char each) { return static_cast<Trend>(each); });
    }
    std::memcpy(field.vectors.data(), saved.vectors.data(), saved.vectors.size());
  });
}

}  // namespace equalux::denoise

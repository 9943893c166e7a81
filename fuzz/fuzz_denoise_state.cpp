// Tests the state of noise reduction, for gray frames of 5 x 3 or, after a first line "one row", of
// 5 x 1: what is accepted is saved as the same state again, and frames continue from it within
// their bounds.
#include <array>
#include <memory>
#include <vector>

#include "fuzz/invariant.h"
#include "src/cpu/denoise/denoise_state.h"
#include "src/format/layout.h"

namespace {

using namespace equalux;
using denoise::PictureSequence;

constexpr std::string_view kOneRow = "one row\n";

/// Sequences of frames, of top fields and of bottom fields that a state has.
using Sequences = std::array<std::unique_ptr<PictureSequence>, 3>;

Sequences sequences_of(std::string_view text, const ImageDesc& desc, RowExecutor& executor) {
  const denoise::SavedSequences saved = denoise::read_sequences(text, desc);
  Sequences made;
  for (std::size_t i = 0; i < saved.size(); ++i) {
    if (!saved[i]) continue;
    const int parity = static_cast<int>(i) - 1;
    const int rows = i == 0 ? desc.height : (desc.height + 1 - parity) / 2;
    const std::array<denoise::ComponentShape, 1> gray{{{desc.width, rows, 0, 0, false}}};
    made[i] = std::make_unique<PictureSequence>(gray, denoise::Words{8, 0}, denoise::Words{8, 0},
                                                executor, denoise::scalar_denoise_rows());
    denoise::resume(*saved[i], *made[i]);
  }
  return made;
}

std::string text_of(const Sequences& sequences, const ImageDesc& desc) {
  return denoise::save_sequences(desc,
                                 {sequences[0].get(), sequences[1].get(), sequences[2].get()});
}

void check_knowledge(const PictureSequence& sequence) {
  for (const denoise::Knowledge& known : sequence.knowledge()) {
    for (int y = 0; y < known.estimate.height(); ++y) {
      for (int x = 0; x < known.estimate.width(); ++x) {
        const int estimate = known.estimate.row(y)[x];
        fuzz::require(estimate >= 0 && estimate <= denoise::kSampleMost, "an estimate of 14 bits");
        fuzz::require(known.weight.row(y)[x] < denoise::kWeights, "a weight of the tables'");
      }
    }
  }
}

/// Filters a frame whose levels differ too much for noise; results must stay within black and
/// white.
void check_frame(PictureSequence& sequence) {
  const denoise::Plane<std::int16_t>& size = sequence.knowledge()[0].estimate;
  std::vector<std::uint8_t> frame(static_cast<std::size_t>(size.width()) *
                                  static_cast<std::size_t>(size.height()));
  for (std::size_t i = 0; i < frame.size(); ++i)
    frame[i] = static_cast<std::uint8_t>(37 * i);
  const Samples<const std::uint8_t> in{frame.data(), size.width(), size.width(), size.height(), 1};
  const Samples<std::uint8_t> out{frame.data(), size.width(), size.width(), size.height(), 1};
  StageClock clock(nullptr);
  const std::uint32_t before = sequence.pictures();
  sequence.process({&in, 1}, {&out, 1}, DenoiseParams{}, {}, clock);
  fuzz::require(sequence.pictures() != 0 && sequence.pictures() != before, "a picture more");
  check_knowledge(sequence);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::text_of(data, size);
  ImageDesc desc{PixelFormat::gray8, 5, 3};
  if (text.starts_with(kOneRow)) {
    text.remove_prefix(kOneRow.size());
    desc.height = 1;
  }
  RowExecutor executor(1);
  Sequences sequences;
  const bool taken = fuzz::accepted(ExitCode::usage, "the state ",
                                    [&] { sequences = sequences_of(text, desc, executor); });
  if (!taken) return 0;
  const std::string saved = text_of(sequences, desc);
  fuzz::require(text_of(sequences_of(saved, desc, executor), desc) == saved,
                "a state that is saved and loaded is the same", saved);
  for (const auto& sequence : sequences) {
    if (sequence == nullptr) continue;
    check_knowledge(*sequence);
    check_frame(*sequence);
    check_frame(*sequence);
  }
  return 0;
}

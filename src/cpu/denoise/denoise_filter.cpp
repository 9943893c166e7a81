#include <cstring>
#include <memory>
#include <optional>

#include <equalux/denoise.h>

#include "src/common/filter_recipe.h"
#include "src/common/frame_check.h"
#include "src/cpu/denoise/denoise_chain.h"
#include "src/cpu/denoise/denoise_state.h"
#include "src/format/rounding.h"

namespace equalux {
namespace {

using denoise::PictureSequence;

/// Noise reduction filter on the CPU.
class CpuDenoiseFilter final : public TunableFilter<DenoiseParams> {
 public:
  CpuDenoiseFilter(const DenoiseParams& params, const CpuOptions& options)
      : TunableFilter(params), executor_(options.threads) {}

  ImageDesc configure(const ImageDesc& input) override { return configure_with(input, {}); }

  [[nodiscard]] bool takes_fractions(const ImageDesc& input, Fractions fractions) const override {
    return !fractions.in && (!fractions.out || format_with_fractions(input.format));
  }

  ImageDesc configure_with(const ImageDesc& input, Fractions fractions) override {
    validate(params_, Backend::cpu, &input);
    equalux::validate(input);
    desc_ = input;
    out_desc_ = fractions.out ? desc_with_fractions(input) : input;
    order_ = denoise::component_order(input.format);
    fields_ = {};
    frames_ = make_sequence(std::nullopt);
    interlaced_ = false;
    rows_ = denoise::Plane<std::int16_t>(input.width, executor_.threads());
    return out_desc_;
  }

  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    check_frames("denoise", in, desc_, out, out_desc_);
    StageClock clock(context.timings);
    context.dither = params_.dither;
    copy_others(in, out);
    if (params_.strength == 0) {
      reset();
      pass_on(in, out);
      return;
    }
    const bool interlaced = context.field_order != FieldOrder::progressive;
    // The state of the other kind is useless from here on. Its memory stays: streams with pulldown
    // switch every few frames.
    if (interlaced != interlaced_) reset();
    interlaced_ = interlaced;
    if (!interlaced) {
      if (frames_ == nullptr) frames_ = make_sequence(std::nullopt);
      process(*frames_, in, out, std::nullopt, clock);
      return;
    }
    const int first = context.field_order == FieldOrder::top_first ? 0 : 1;
    for (const int parity : {first, 1 - first}) {
      if (desc_.height <= parity) continue;
      auto& field = fields_[static_cast<std::size_t>(parity)];
      if (field == nullptr) field = make_sequence(parity);
      process(*field, in, out, parity, clock);
    }
  }

  bool retune(const DenoiseParams& params) override {
    validate(params, Backend::cpu, desc_.width == 0 ? nullptr : &desc_);
    params_ = params;
    return true;
  }

  void reset() override {
    if (frames_ != nullptr) frames_->reset();
    for (auto& field : fields_)
      if (field != nullptr) field->reset();
  }

  [[nodiscard]] std::string save() const override {
    return denoise::save_sequences(desc_, {frames_.get(), fields_[0].get(), fields_[1].get()});
  }

  void load(std::string_view state) override {
    const denoise::SavedSequences saved = denoise::read_sequences(state, desc_);
    // All states are checked before anything changes.
    std::array<std::unique_ptr<PictureSequence>, 3> sequences;
    for (std::size_t i = 0; i < saved.size(); ++i) {
      if (!saved[i]) continue;
      sequences[i] =
          make_sequence(i == 0 ? std::nullopt : std::optional<int>(static_cast<int>(i) - 1));
      denoise::resume(*saved[i], *sequences[i]);
    }
    frames_ = std::move(sequences[0]);
    fields_ = {std::move(sequences[1]), std::move(sequences[2])};
    interlaced_ = frames_ == nullptr && (fields_[0] != nullptr || fields_[1] != nullptr);
  }

 private:
  [[nodiscard]] std::unique_ptr<PictureSequence> make_sequence(std::optional<int> parity) {
    const FormatTraits& format = traits(desc_.format);
    return std::make_unique<PictureSequence>(denoise::component_shapes(desc_, parity),
                                             denoise::Words{format.depth, format.shift},
                                             out_words(), executor_, denoise::denoise_rows());
  }

  void process(PictureSequence& sequence, const ConstImageView& in, const ImageView& out,
               std::optional<int> parity, StageClock& clock) {
    std::array<Samples<const std::uint8_t>, 3> from;
    std::array<Samples<std::uint8_t>, 3> to;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      from[i] = denoise::picture_samples(in, order_[i], parity);
      to[i] = denoise::picture_samples(out, order_[i], parity);
    }
    DenoiseParams params = params_;
    if (leaves_fractions()) params.dither = Dither::none;  // the filter that rounds them dithers
    sequence.process({from.data(), order_.size()}, {to.data(), order_.size()}, params,
                     denoise::frame_rows(parity), clock);
  }

  [[nodiscard]] bool leaves_fractions() const { return out_desc_.format != desc_.format; }

  /// Fractions have 4 bits, even if the word has room for more.
  [[nodiscard]] denoise::Words out_words() const {
    const FormatTraits& format = traits(out_desc_.format);
    if (!leaves_fractions()) return {format.depth, format.shift};
    return {12, format.depth + format.shift - 12};
  }

  /// Copies samples where nothing is removed.
  void pass_on(const ConstImageView& in, const ImageView& out) {
    if (in.data[0] == out.data[0]) return;
    if (!leaves_fractions()) {
      copy_image(in, out);
      return;
    }
    const denoise::DenoiseRows& loops = denoise::denoise_rows();
    const denoise::Words words = out_words();
    for (const int index : order_) {
      const auto from = samples_of(in, index);
      const auto to = samples_of(out, index);
      const auto n = static_cast<std::size_t>(from.columns);
      executor_.for_rows(from.rows, [&](int begin, int end, int slot) {
        std::int16_t* const row = rows_.row(slot);
        for (int y = begin; y < end; ++y) {
          loops.load(from.row(y), from.step, 8, 0, n, row);
          loops.store(row, to.step, words.depth, words.shift, n, to.row(y));
        }
      });
    }
  }

  /// Copies samples that belong to no component.
  void copy_others(const ConstImageView& in, const ImageView& out) {
    const auto from = denoise::copied_samples(in, std::nullopt);
    const auto to = denoise::copied_samples(out, std::nullopt);
    if (to.columns == 0 || in.data[0] == out.data[0]) return;
    executor_.for_rows(from.rows, [&](int begin, int end, int) {
      for (int y = begin; y < end; ++y) {
        for (int x = 0; x < from.columns; ++x) {
          if (leaves_fractions()) {
            const auto word = static_cast<std::uint16_t>(*from.at(x, y) << 8);
            std::memcpy(to.at(x, y), &word, sizeof word);
          } else {
            *to.at(x, y) = *from.at(x, y);
          }
        }
      }
    });
  }

  RowExecutor executor_;
  ImageDesc desc_;
  ImageDesc out_desc_;  // of another format where results keep fractions
  std::vector<int> order_;
  denoise::Plane<std::int16_t> rows_;                       // one for each thread
  bool interlaced_ = false;                                 // the last frame had two fields
  std::unique_ptr<PictureSequence> frames_;                 // null before a progressive frame
  std::array<std::unique_ptr<PictureSequence>, 2> fields_;  // top and bottom; null before fields
};

}  // namespace

std::unique_ptr<Filter> make_cpu_filter(const DenoiseParams& params, const CpuOptions& options) {
  validate(params, Backend::cpu);
  return std::make_unique<CpuDenoiseFilter>(params, options);
}

}  // namespace equalux

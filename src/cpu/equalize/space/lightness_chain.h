#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <equalux/filter.h>

#include "src/cpu/common/parallel.h"
#include "src/cpu/equalize/curve_chain.h"
#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/cpu/equalize/saturation_pass.h"
#include "src/cpu/equalize/space/hue_rows.h"
#include "src/equalize/space.h"
#include "src/format/layout.h"

/// Equalization of lightness of packed RGB and gray on the CPU: levels and their histogram, curve,
/// a table of the output of each code at each level, apply. Pixels that need more than the table
/// are collected and mapped at the end of their row.
namespace equalux {

/// Chain for gray and packed RGB of 8 bits. One thread at a time.
class LightnessChain final : public CurveChain {
 public:
  /// Makes a chain; both loops must outlive it.
  LightnessChain(const EqualizeParams& params, RowExecutor& executor, const FusedRows& loops,
                 const HueRows& hue);
  ~LightnessChain() override;

  /// Allocates for frames of `desc`, gray or packed RGB of 8 bits.
  void configure(const ImageDesc& desc) override;
  void process(const ConstImageView& in, const ImageView& out,
               const FrameContext& context) override;
  void update(const EqualizeParams& params) override;

 private:
  struct Scratch;
  /// Output by level and code, kOther where channels cannot be scaled independently.
  using Scaled = std::array<std::array<std::uint16_t, 256>, 256>;
  /// Tables from a pixel's codes to its level, in the order of bytes in memory.
  struct Levels {
    std::uint32_t part[3][256];  ///< SpaceTables::part; the first includes the half for rounding
    std::uint8_t base[4096];     ///< SpaceTables::levels
    std::uint32_t from[257];     ///< SpaceTables::levels, times 2^16
  };

  [[nodiscard]] bool is_gray() const { return layout_.step == 1; }
  void prepare_colours();
  void make_levels();
  void count(const ConstImageView& in);
  void count_rows(const ConstImageView& in, int begin, int end, Scratch& scratch);
  void make_table(std::uint32_t v, std::uint32_t curve);
  void make_gray();
  void apply_gray_rows(const ConstImageView& in, const ImageView& out, int begin, int end) const;
  void apply_rows(const ConstImageView& in, const ImageView& out, int begin, int end,
                  Scratch& scratch) const;
  void find_levels(const std::uint8_t* in, std::uint8_t* levels) const;
  /// Applies the table to a row; returns the number of pixels that need more, and stores their
  /// positions.
  std::size_t look_up(const std::uint8_t* in, const std::uint8_t* levels, std::uint8_t* out,
                      std::uint32_t* others) const;
  /// Maps n such pixels of a row.
  void map_others(const std::uint8_t* in, const std::uint8_t* levels, std::size_t n,
                  Scratch& scratch) const;
  void fix_curve() override;

  RowExecutor& executor_;
  const FusedRows& loops_;
  const HueRows& hue_;
  ImageDesc desc_;
  RgbLayout layout_{};
  std::unique_ptr<const SpaceTables> tables_;
  std::unique_ptr<Levels> levels_;
  std::array<float, 256> light_{};          // light_of_code()
  std::array<std::uint64_t, 256> gains_{};  // by level
  std::array<float, 256> light_gain_{};     // light_gain() of gains_
  std::unique_ptr<Scaled> scaled_;          // valid for levels that the frame has
  std::unique_ptr<GainTables> gray_;        // output of gray codes; the other tables are unused
  std::vector<std::uint8_t> level_of_;      // by pixel; unused where the curve is given
  ValueHistogram counts_{};
  SaturationPass colours_;
  std::array<std::uint8_t, 256> level_of_gray_{};  // level of each gray code
  std::vector<std::unique_ptr<Scratch>> scratch_;  // one for each thread
};

}  // namespace equalux

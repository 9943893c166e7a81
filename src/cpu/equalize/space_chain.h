#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <equalux/filter.h>

#include "src/cpu/common/parallel.h"
#include "src/cpu/equalize/curve_chain.h"
#include "src/equalize/space.h"
#include "src/format/layout.h"

/// Equalization of luma or lightness of packed RGB and gray on the CPU: histogram of v, curve, a
/// table of what each code becomes at each v, apply.
namespace equalux {

/// One thread at a time.
class SpaceChain final : public CurveChain {
 public:
  SpaceChain(const EqualizeParams& params, RowExecutor& executor);

  /// Allocates for frames of `desc`, which space_needs_tables().
  void configure(const ImageDesc& desc) override;
  void process(const ConstImageView& in, const ImageView& out,
               const FrameContext& context) override;

 private:
  using Scaled = std::array<std::array<std::uint8_t, 256>, 256>;

  template <Space kSpace>
  ValueHistogram count(const ConstImageView& in);
  template <Space kSpace>
  void count_rows(const ConstImageView& in, int begin, int end, ValueHistogram& counts) const;
  template <Space kSpace>
  void apply_rows(const ConstImageView& in, const ImageView& out, int begin, int end) const;
  template <Space kSpace>
  void process_in(const ConstImageView& in, const ImageView& out, const FrameContext& context);
  /// The table of a value's codes.
  template <Space kSpace>
  void make_table(std::uint32_t v, std::uint32_t curve);
  void fix_curve() override;

  RowExecutor& executor_;
  ImageDesc desc_;
  RgbLayout layout_{};
  std::unique_ptr<const SpaceTables> tables_;
  std::array<std::uint64_t, 256> gains_{};  // by v
  std::array<SpaceCodes, 256> codes_{};     // space_codes() of these
  std::unique_ptr<Scaled> scaled_;          // by v and code, for the v that the frame has
  std::vector<ValueHistogram> scratch_;     // by slot
};

}  // namespace equalux

#pragma once

#include <array>
#include <cstdint>

#include <equalux/params.h>

#include "src/cpu/equalize/fused/fused_rows.h"

/// Makes the gain tables of the fused chain's loops, from a histogram or a curve.
namespace equalux {

/// Makes the gains that equalize a frame with this histogram. `max_value` is M, `bins` 2 to 65,536
/// and `max_code` the largest luma code above black. Levels that the frame lacks get gain 1.
void make_gains(const ValueHistogram& counts, Scaler scaler, int bins, std::int32_t max_value,
                std::int32_t max_code, const FusedRows& loops, GainTables& gains);

/// Makes the gains of a frame that has the levels in `present`, with a curve from `counts`, which
/// may leave pixels out.
void make_gains(const ValueHistogram& present, const ValueHistogram& counts, Scaler scaler,
                int bins, std::int32_t max_value, std::int32_t max_code, const FusedRows& loops,
                GainTables& gains);

/// Makes the gains of a curve of tone_limits.h, for levels that `counts` has.
void make_gains(const ValueHistogram& counts, const std::array<std::uint32_t, 256>& curve,
                std::int32_t max_value, std::int32_t max_code, const FusedRows& loops,
                GainTables& gains);

/// Makes gain48 only, for all levels of a curve of tone_limits.h.
void make_gain48(const std::array<std::uint32_t, 256>& curve, std::int32_t max_value,
                 GainTables& gains);

/// Makes the gains of a curve over luma of RGB, where channels may be larger than v.
void make_luma_gains(const ValueHistogram& counts, const std::array<std::uint32_t, 256>& curve,
                     const FusedRows& loops, GainTables& gains);

}  // namespace equalux

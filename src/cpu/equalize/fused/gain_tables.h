#pragma once

#include <array>
#include <cstdint>

#include <equalux/params.h>

#include "src/cpu/equalize/fused/fused_rows.h"

/// Makes of counts or a curve the gains that the fused chain's loops read.
namespace equalux {

/// The gains that equalize a frame with these counts. `max_value` is M, `bins` 2 to 65,536 and
/// `max_code` the largest luma code above black. Values that the frame does not have get gain 1.
void make_gains(const ValueHistogram& counts, Scaler scaler, int bins, std::int32_t max_value,
                std::int32_t max_code, const FusedRows& loops, GainTables& gains);

/// Makes the gains of a frame that has the values in `present`, of which some pixels are not in
/// `counts`.
void make_gains(const ValueHistogram& present, const ValueHistogram& counts, Scaler scaler,
                int bins, std::int32_t max_value, std::int32_t max_code, const FusedRows& loops,
                GainTables& gains);

/// Makes the gains of a curve of tone_limits.h; of the counts it only matters which are 0.
void make_gains(const ValueHistogram& counts, const std::array<std::uint32_t, 256>& curve,
                std::int32_t max_value, std::int32_t max_code, const FusedRows& loops,
                GainTables& gains);

/// Makes gain48 alone, of all levels of a curve of tone_limits.h.
void make_gain48(const std::array<std::uint32_t, 256>& curve, std::int32_t max_value,
                 GainTables& gains);

/// Makes the gains of a curve over luma of RGB, where channels may lie above v.
void make_luma_gains(const ValueHistogram& counts, const std::array<std::uint32_t, 256>& curve,
                     const FusedRows& loops, GainTables& gains);

}  // namespace equalux

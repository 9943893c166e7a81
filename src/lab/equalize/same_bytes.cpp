#include "src/lab/equalize/same_bytes.h"

#include "pipelines/core/frame_hash.h"
#include "src/lab/pivot.h"

namespace equalux::cli::lab {

SameBytes::SameBytes(const Lab& lab, const EqualizeParams& params) {
  EqualizeParams plain;
  plain.scaler = params.scaler;
  plain.bins = params.bins;
  plain.chain = params.chain;
  expected_ = frame_md5(filtered(lab.image().view(), plain, Backend::cpu, lab.options()).view());
}

std::string SameBytes::text(const Image& result) const {
  return frame_md5(result.view()) == expected_ ? "yes" : "no";
}

std::string same_bytes_line(const Table& table) {
  const std::size_t same = rows_where(table, "same_bytes", "yes").size();
  return cell(same) + " of " + cell(table.rows.size()) + " results have the CPU's bytes.\n";
}

}  // namespace equalux::cli::lab

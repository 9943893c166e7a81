#pragma once

#include <string>

#include "src/lab/lab.h"

/// Whether a GPU gave the CPU's bytes: what it took means something only then.
namespace equalux::cli::lab {

class SameBytes {
 public:
  /// What the CPU makes of the lab's image; of `params` what changes bytes is taken.
  SameBytes(const Lab& lab, const EqualizeParams& params);
  /// "yes" or "no"
  [[nodiscard]] std::string text(const Image& result) const;

 private:
  std::string expected_;
};

/// A sentence about the column `same_bytes`.
[[nodiscard]] std::string same_bytes_line(const Table& table);

}  // namespace equalux::cli::lab

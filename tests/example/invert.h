#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/filter.h>

/// The worked example of docs/architecture.md, "Adding a filter": a frame's negative. A real one
/// has this header in include/equalux/.
namespace equalux {

/// Parameters of `invert`.
struct InvertParams {
  double amount = 1;  ///< 0 to 1: from the frame as it is to its negative
};

[[nodiscard]] std::span<const Option> invert_options();
void set_option(InvertParams& params, std::string_view key, std::string_view value);
[[nodiscard]] std::string option_text(const InvertParams& params, std::string_view key);

[[nodiscard]] std::vector<std::string> violations(const InvertParams& params, Backend backend,
                                                  const ImageDesc* desc = nullptr);
[[nodiscard]] bool takes(const InvertParams& params, PixelFormat format);

[[nodiscard]] std::unique_ptr<Filter> make_cpu_filter(const InvertParams& params,
                                                      const CpuOptions& options);
[[nodiscard]] std::unique_ptr<Filter> make_cuda_filter(const InvertParams& params,
                                                       const CudaOptions& options);

}  // namespace equalux

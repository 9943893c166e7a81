#include "src/options/option_table.h"
#include "tests/example/invert.h"

/// The options of `invert`, and its rules. A real one is src/invert/invert_params.cpp.
namespace equalux {
namespace {

const OptionTable<InvertParams>& invert_table() {
  static const OptionTable<InvertParams> table(
      "invert", {{{.key = "amount",
                   .title = "Amount",
                   .help = "how far it goes, from the frame as it is to its negative",
                   .least = 0,
                   .most = 1,
                   .step = 0.05,
                   .live = true},
                  &InvertParams::amount}});
  return table;
}

}  // namespace

bool takes(const InvertParams&, PixelFormat format) {
  return format == PixelFormat::gray8 || format == PixelFormat::rgb || format == PixelFormat::bgr;
}

std::vector<std::string> violations(const InvertParams& params, Backend, const ImageDesc* desc) {
  Clauses broken;
  invert_table().check(params, broken);
  if (desc != nullptr && !takes(params, desc->format)) {
    broken.push_back("the frame's format is " + std::string(to_string(desc->format)) +
                     ", must be gray8, rgb or bgr");
  }
  return broken;
}

EQUALUX_DEFINE_OPTIONS(InvertParams, invert)

}  // namespace equalux

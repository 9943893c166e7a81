#include "bench/cuda/npp_filter.h"

#include <equalux/error.h>

#ifdef EQUALUX_HAVE_NPP

#include <nppi_filtering_functions.h>

#include "bench/cuda/npp_context.h"

namespace equalux::bench {

bool has_npp() {
  return true;
}

void npp_filter(NppFilter filter, const ConstImageView& in, const ImageView& out,
                const int* weights, cudaStream_t stream) {
  static const NppStreamContext device = npp_context(stream);
  NppStreamContext context = device;  // asking again takes longer than the filter
  context.hStream = stream;
  const NppiSize size{in.desc.width, in.desc.height};
  const int in_step = static_cast<int>(in.stride[0]);
  const int out_step = static_cast<int>(out.stride[0]);
  switch (filter) {
    case NppFilter::gauss:
      npp_check(nppiFilterGaussBorder_8u_C3R_Ctx(in.data[0], in_step, size, {0, 0}, out.data[0],
                                                 out_step, size, NPP_MASK_SIZE_3_X_3,
                                                 NPP_BORDER_REPLICATE, context),
                "FilterGaussBorder");
      return;
    case NppFilter::general:
      npp_check(nppiFilterBorder_8u_C3R_Ctx(in.data[0], in_step, size, {0, 0}, out.data[0],
                                            out_step, size, weights, {3, 3}, {1, 1}, 16,
                                            NPP_BORDER_REPLICATE, context),
                "FilterBorder");
      return;
    case NppFilter::sharpen:
      npp_check(nppiFilterSharpenBorder_8u_C3R_Ctx(in.data[0], in_step, size, {0, 0}, out.data[0],
                                                   out_step, size, NPP_BORDER_REPLICATE, context),
                "FilterSharpenBorder");
      return;
  }
}

}  // namespace equalux::bench

#else

namespace equalux::bench {

bool has_npp() {
  return false;
}

void npp_filter(NppFilter, const ConstImageView&, const ImageView&, const int*, cudaStream_t) {
  throw Error(ExitCode::unavailable, "this build has no NPP");
}

}  // namespace equalux::bench

#endif

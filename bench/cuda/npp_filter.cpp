#include "bench/cuda/npp_filter.h"

#include <equalux/error.h>

#ifdef EQUALUX_HAVE_NPP

#include <nppi_filtering_functions.h>

#include "bench/cuda/npp_context.h"

namespace equalux::bench {

bool has_npp() {
  return true;
}

namespace {

NppiMaskSize mask_size(int size) {
  switch (size) {
    case 3:
      return NPP_MASK_SIZE_3_X_3;
    case 5:
      return NPP_MASK_SIZE_5_X_5;
    case 7:
      return NPP_MASK_SIZE_7_X_7;
    case 9:
      return NPP_MASK_SIZE_9_X_9;
    case 11:
      return NPP_MASK_SIZE_11_X_11;
    case 13:
      return NPP_MASK_SIZE_13_X_13;
    case 15:
      return NPP_MASK_SIZE_15_X_15;
    default:
      throw Error(ExitCode::unavailable, "FilterGaussBorder has no such size");
  }
}

}  // namespace

void npp_filter(NppFilter filter, int size, const ConstImageView& in, const ImageView& out,
                const NppWeights& weights, cudaStream_t stream) {
  static const NppStreamContext device = npp_context(stream);
  NppStreamContext context = device;  // kept, since asking for it takes longer than the filter
  context.hStream = stream;
  const NppiSize frame{in.desc.width, in.desc.height};
  const NppiSize kernel{size, size};
  const NppiPoint anchor{size / 2, size / 2};
  const int in_step = static_cast<int>(in.stride[0]);
  const int out_step = static_cast<int>(out.stride[0]);
  switch (filter) {
    case NppFilter::gauss:
      npp_check(nppiFilterGaussBorder_8u_C3R_Ctx(in.data[0], in_step, frame, {0, 0}, out.data[0],
                                                 out_step, frame, mask_size(size),
                                                 NPP_BORDER_REPLICATE, context),
                "FilterGaussBorder");
      return;
    case NppFilter::gauss_advanced:
      npp_check(nppiFilterGaussAdvancedBorder_8u_C3R_Ctx(
                    in.data[0], in_step, frame, {0, 0}, out.data[0], out_step, frame, size,
                    weights.taps, NPP_BORDER_REPLICATE, context),
                "FilterGaussAdvancedBorder");
      return;
    case NppFilter::box:
      npp_check(
          nppiFilterBoxBorder_8u_C3R_Ctx(in.data[0], in_step, frame, {0, 0}, out.data[0], out_step,
                                         frame, kernel, anchor, NPP_BORDER_REPLICATE, context),
          "FilterBoxBorder");
      return;
    case NppFilter::general:
      npp_check(nppiFilterBorder_8u_C3R_Ctx(in.data[0], in_step, frame, {0, 0}, out.data[0],
                                            out_step, frame, weights.general, kernel, anchor,
                                            weights.divisor, NPP_BORDER_REPLICATE, context),
                "FilterBorder");
      return;
    case NppFilter::sharpen:
      npp_check(nppiFilterSharpenBorder_8u_C3R_Ctx(in.data[0], in_step, frame, {0, 0}, out.data[0],
                                                   out_step, frame, NPP_BORDER_REPLICATE, context),
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

void npp_filter(NppFilter, int, const ConstImageView&, const ImageView&, const NppWeights&,
                cudaStream_t) {
  throw Error(ExitCode::unavailable, "this build has no NPP");
}

}  // namespace equalux::bench

#endif

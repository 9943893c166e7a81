#include "bench/cuda/npp_chain.h"

#ifdef EQUALUX_HAVE_NPP

#include <cstdint>

#include <nppi_color_conversion.h>
#include <nppi_data_exchange_and_initialization.h>
#include <nppi_statistics_functions.h>

#include "bench/cuda/npp_context.h"
#include "cuda/runtime/handles.h"

namespace equalux::bench {
namespace {

class NppHsvChain final : public NppChain {
 public:
  NppHsvChain(const ImageDesc& desc, cudaStream_t stream)
      : context_(npp_context(stream)),
        size_{desc.width, desc.height},
        hsv_step_(3 * desc.width),
        value_step_(desc.width) {
    const auto pixels =
        static_cast<std::size_t>(desc.width) * static_cast<std::size_t>(desc.height);
    hsv_ = cuda::allocate_device<std::uint8_t>(3 * pixels);
    value_ = cuda::allocate_device<std::uint8_t>(pixels);
    counts_ = cuda::allocate_device<Npp32s>(256);
    std::size_t bytes = 0;
    npp_check(nppiHistogramEvenGetBufferSize_8u_C1R_Ctx(size_, kLevels, &bytes, context_),
              "HistogramEvenGetBufferSize");
    scratch_ = cuda::allocate_device<std::uint8_t>(bytes);
  }

  void enqueue(const ConstImageView& in, const ImageView& out) override {
    const int in_step = static_cast<int>(in.stride[0]);
    const int out_step = static_cast<int>(out.stride[0]);
    npp_check(nppiRGBToHSV_8u_C3R_Ctx(in.data[0], in_step, hsv_.get(), hsv_step_, size_, context_),
              "RGBToHSV");
    npp_check(nppiCopy_8u_C3C1R_Ctx(hsv_.get() + 2, hsv_step_, value_.get(), value_step_, size_,
                                    context_),
              "Copy");
    npp_check(nppiHistogramEven_8u_C1R_Ctx(value_.get(), value_step_, size_, counts_.get(), kLevels,
                                           0, 256, scratch_.get(), context_),
              "HistogramEven");
    npp_check(nppiCopy_8u_C1C3R_Ctx(value_.get(), value_step_, hsv_.get() + 2, hsv_step_, size_,
                                    context_),
              "Copy");
    npp_check(
        nppiHSVToRGB_8u_C3R_Ctx(hsv_.get(), hsv_step_, out.data[0], out_step, size_, context_),
        "HSVToRGB");
  }

 private:
  static constexpr int kLevels = 257;  ///< bounds of 256 bins

  NppStreamContext context_;
  NppiSize size_;
  int hsv_step_;
  int value_step_;
  cuda::DevicePointer<std::uint8_t> hsv_;
  cuda::DevicePointer<std::uint8_t> value_;
  cuda::DevicePointer<Npp32s> counts_;
  cuda::DevicePointer<std::uint8_t> scratch_;
};

}  // namespace

std::unique_ptr<NppChain> make_npp_chain(const ImageDesc& desc, cudaStream_t stream) {
  return std::make_unique<NppHsvChain>(desc, stream);
}

}  // namespace equalux::bench

#else

namespace equalux::bench {

std::unique_ptr<NppChain> make_npp_chain(const ImageDesc&, cudaStream_t) {
  return nullptr;
}

}  // namespace equalux::bench

#endif

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <cuda_runtime_api.h>
#include <gst/cuda/cuda-gst.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#include "pipelines/gstreamer/cuda_library.h"
#include "pipelines/gstreamer/decode/picture_decoder.h"

namespace equalux::gst {
namespace {

struct GpuCodec {
  const char* media_type;
  const char* parser;  // brings packets into the form that the decoder takes
  const char* decoder;
};
constexpr std::array<GpuCodec, 5> kCodecs{{{"video/x-h264", "h264parse", "h264dec"},
                                           {"video/x-h265", "h265parse", "h265dec"},
                                           {"video/x-vp8", nullptr, "vp8dec"},
                                           {"video/x-vp9", "vp9parse", "vp9dec"},
                                           {"video/x-av1", "av1parse", "av1dec"}}};

std::string factory_of(const GpuCodec& codec, int device) {
  const std::string which = device == 0 ? "" : "device" + std::to_string(device);
  const std::string name = codec.decoder;
  const std::size_t end = name.size() - 3;  // "nvh264dec", "nvh264device1dec"
  return "nv" + name.substr(0, end) + which + name.substr(end);
}

using CudaContextPtr = std::unique_ptr<GstCudaContext, UnrefObject>;

/// Wraps the CUDA runtime's context of a device for GStreamer, so that filters can access what is
/// decoded into it. Null where the driver refuses.
CudaContextPtr runtime_context(int device) {
  CUcontext handle = nullptr;
  // cudaFree() creates the context if there is none yet. Popping it for a moment is how to get its
  // handle.
  const bool known = cudaSetDevice(device) == cudaSuccess && cudaFree(nullptr) == cudaSuccess &&
                     CuCtxPopCurrent(&handle) == CUDA_SUCCESS &&
                     CuCtxPushCurrent(handle) == CUDA_SUCCESS;
  static_cast<void>(cudaGetLastError());
  if (!known || handle == nullptr) return nullptr;
  return CudaContextPtr(gst_cuda_context_new_wrapped(handle, device));
}

/// Decodes with a decoder that is added once parsebin has found the packets.
class GpuDecoder final : public PictureDecoder {
 public:
  GpuDecoder(const std::string& name, int device, const CudaContextPtr& context, bool takes_p010)
      : PictureDecoder(name), device_(device) {
    using ContextPtr = std::unique_ptr<GstContext, UnrefMini>;
    const ContextPtr offer(gst_context_new_cuda_context(context.get()));
    gst_element_set_context(pipeline(), offer.get());
    const CapsPtr caps(gst_caps_from_string(takes_p010 ? "video/x-raw, format={NV12, P010_10LE}"
                                                       : "video/x-raw, format=NV12"));
    gst_caps_set_features(caps.get(), 0,
                          gst_caps_features_new(GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY, nullptr));
    gst_app_sink_set_caps(sink(), caps.get());
  }
  ~GpuDecoder() override { pipeline_.stop(); }

  [[nodiscard]] MapMode map_mode() const override { return cuda_map_mode(); }

 protected:
  GstElement* add_decoder() override {
    GstElement* parsebin = add_to(pipeline(), make_element("parsebin"));
    g_signal_connect(parsebin, "pad-added", G_CALLBACK(on_pad), this);
    g_signal_connect(parsebin, "no-more-pads", G_CALLBACK(on_no_more_pads), this);
    return parsebin;
  }

 private:
  static void on_pad(GstElement*, GstPad* pad, gpointer self) {
    auto* decoder = static_cast<GpuDecoder*>(self);
    try {
      decoder->connect(pad);
    } catch (const Error& error) {
      decoder->give_up(error);
    }
  }

  static void on_no_more_pads(GstElement*, gpointer self) {
    auto* decoder = static_cast<GpuDecoder*>(self);
    if (!decoder->linked_) {
      decoder->give_up(
          Error(ExitCode::unavailable, decoder->name_ + ": has no stream that NVDEC decodes"));
    }
  }

  void connect(GstPad* pad) {
    if (linked_) return;
    CapsPtr caps(gst_pad_get_current_caps(pad));
    if (!caps) caps.reset(gst_pad_query_caps(pad, nullptr));
    if (!caps || gst_caps_get_size(caps.get()) == 0) return;
    const GstStructure* structure = gst_caps_get_structure(caps.get(), 0);
    for (const GpuCodec& codec : kCodecs) {
      if (gst_structure_has_name(structure, codec.media_type) == FALSE) continue;
      check_progressive(structure);
      link(pad, codec);
      linked_ = true;
      return;
    }
  }

  void check_progressive(const GstStructure* structure) const {
    const char* mode = gst_structure_get_string(structure, "interlace-mode");
    if (mode != nullptr && std::string_view(mode) != "progressive") {
      throw Error(ExitCode::unavailable, name_ + ": is interlaced, which is left to the CPU");
    }
  }

  void link(GstPad* pad, const GpuCodec& codec) {
    GstElement* decoder = add_to(pipeline(), make_element(factory_of(codec, device_).c_str()));
    gst_element_link(decoder, GST_ELEMENT(sink()));
    GstElement* first = decoder;
    if (codec.parser != nullptr) {
      first = add_to(pipeline(), make_element(codec.parser));
      gst_element_link(first, decoder);
      gst_element_sync_state_with_parent(first);
    }
    gst_element_sync_state_with_parent(decoder);
    const PadPtr target(gst_element_get_static_pad(first, "sink"));
    if (gst_pad_link(pad, target.get()) != GST_PAD_LINK_OK) {
      throw Error(ExitCode::unavailable, name_ + ": NVDEC does not take its stream");
    }
  }

  /// Reports an error on the bus, since a pad without a peer raises none and the wait for the first
  /// picture would time out.
  void give_up(const Error& error) {
    refuse(error);
    GST_ELEMENT_ERROR(pipeline(), STREAM, DECODE, ("%s", error.what()), (nullptr));
  }

  int device_;
  bool linked_ = false;  // used by parsebin's thread
};

}  // namespace

std::unique_ptr<PictureDecoder> make_gpu_decoder(const std::string& name, int device,
                                                 const FormatPredicate& accepts) {
  if (!cuda_library_starts() || !has_element(factory_of(kCodecs[0], device).c_str()))
    return nullptr;
  const CudaContextPtr context = runtime_context(device);
  if (!context) return nullptr;
  return std::make_unique<GpuDecoder>(name, device, context, accepts(PixelFormat::p010_10le));
}

}  // namespace equalux::gst

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <equalux/denoise.h>
#include <equalux/error.h>

#include "cuda/denoise/denoise_stages.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/filter_device.h"
#include "cuda/runtime/handles.h"
#include "cuda/runtime/trace.h"
#include "cuda/runtime/view_strides.h"
#include "src/common/filter_recipe.h"
#include "src/common/frame_check.h"
#include "src/denoise/interpolation.h"
#include "src/denoise/noise_estimate.h"
#include "src/denoise/saved_sequences.h"
#include "src/format/rounding.h"

namespace equalux {
namespace {

using cuda::DenoisePicture;
using cuda::NoiseCounts;
using denoise::ComponentShape;
using denoise::SavedSequence;

/// Alignment of planes and of their rows in device memory, in bytes.
constexpr std::size_t kAlignment = 128;

constexpr const char* kReading = "reading what noise reduction remembers";

/// Divides a buffer of device memory into aligned parts. Without a buffer it only adds up their
/// sizes.
class Parts {
 public:
  explicit Parts(std::uint8_t* memory) : memory_(memory) {}

  template <typename T>
  [[nodiscard]] T* take(std::size_t count) {
    T* const part = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + used_);
    used_ += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return part;
  }
  template <typename T>
  [[nodiscard]] cuda::NumberPlane<T> plane(int columns, int rows) {
    const auto step = static_cast<int>(kAlignment / sizeof(T));
    const int pitch = (columns + step - 1) / step * step;
    return {take<T>(static_cast<std::size_t>(pitch) * static_cast<std::size_t>(rows)), pitch,
            columns, rows};
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::uint8_t* memory_;
  std::size_t used_ = 0;
};

/// State of a sequence of pictures of one size, frames or fields of one parity, in parts of the
/// filter's buffer. Is not thread-safe; owns no device memory.
class Sequence {
 public:
  Sequence(std::vector<ComponentShape> shapes, Parts& parts, NoiseCounts* noise)
      : shapes_(std::move(shapes)) {
    picture_.count = static_cast<int>(shapes_.size());
    for (std::size_t c = 0; c < shapes_.size(); ++c) {
      const ComponentShape& shape = shapes_[c];
      cuda::DenoiseComponent& component = picture_.components[c];
      component.shift_x = shape.shift_x;
      component.shift_y = shape.shift_y;
      component.chroma = shape.chroma;
      for (cuda::KnownPlanes* planes : {&component.known, &component.next, &component.moved}) {
        planes->estimate = parts.plane<std::int16_t>(shape.columns, shape.rows);
        planes->weight = parts.plane<std::uint8_t>(shape.columns, shape.rows);
      }
      component.noise = noise == nullptr ? nullptr : noise + c;
      if (!shape.chroma) component.trends = parts.take<denoise::Trend>(trends(shape));
    }
    const auto halved = [&parts](int columns, int rows) {
      return parts.plane<std::int16_t>((columns + 1) / 2, (rows + 1) / 2);
    };
    for (cuda::DenoisePyramid* pyramid : {&picture_.samples, &picture_.estimates}) {
      pyramid->half = halved(shapes_[0].columns, shapes_[0].rows);
      pyramid->eighth = halved((pyramid->half.columns + 1) / 2, (pyramid->half.rows + 1) / 2);
    }
    picture_.block_columns = denoise::blocks_of(shapes_[0].columns);
    picture_.block_rows = denoise::blocks_of(shapes_[0].rows);
    picture_.vectors = parts.take<denoise::Vector>(blocks());
    picture_.found = parts.take<denoise::Vector>(blocks());
    picture_.followed = parts.take<denoise::Vector>(blocks());
    picture_.least = parts.take<std::int32_t>(blocks());
    for (std::int16_t** numbers :
         {&picture_.gains, &picture_.followed_gains, &picture_.drift_limits})
      *numbers = parts.take<std::int16_t>(blocks());
  }

  /// Parameters of the kernels without what differs from picture to picture: samples, words and
  /// options.
  [[nodiscard]] const DenoisePicture& picture() const { return picture_; }

  /// Enqueues the kernels in the context's stream. `all` is picture() with the rest filled in. Does
  /// not wait.
  void submit(DenoisePicture all, const cuda::LaunchDevice& device, int strips,
              FrameContext& context) {
    const auto stream = static_cast<cudaStream_t>(context.stream);
    const bool measured = all.noise == 0;
    const bool known = all.noise_known;
    if (measured && !known) {
      noise_count_alone(all, device, stream);
      all.noise_counted = true;
    }
    if (all.before == 0) {
      noise_curves(all, device, stream);
      context.mark("noise");
      estimate_start(all, device, stream);
    } else {
      if (measured && !known) context.mark("noise");
      motion_pyramids(all, device, stream);
      motion_find(all, device, stream);
      motion_move(all, device, stream);
      context.mark("motion");
      estimate_next(all, device, strips, stream);
    }
    context.mark("estimate");
    // Nothing of this picture needs its counts. Beside the end of the estimates they cost less time
    // than behind the smoothing, which in place overwrites the samples, too.
    if (measured && known) {
      noise_count(all, device, stream);
      context.mark("noise");
    }
    denoise_smooth(all, device, stream);
    context.mark("smooth");
    for (std::size_t c = 0; c < shapes_.size(); ++c)
      std::swap(picture_.components[c].known, picture_.components[c].next);
    if (measured) {
      picture_.noise_known = true;
      picture_.noise_counted = known;
    }
    ++picture_.before;
    if (picture_.before == 0) picture_.before = 1;  // wrapped: 0 is for the first picture
  }

  void reset() {
    picture_.before = 0;
    picture_.noise_known = false;
    picture_.noise_counted = false;
  }

  /// Copies the state to the host; nothing where no picture has come. The device must be idle.
  [[nodiscard]] std::optional<SavedSequence> save() const {
    if (picture_.before == 0) return std::nullopt;
    SavedSequence saved;
    saved.pictures = picture_.before;
    saved.vectors = bytes_of(picture_.vectors, blocks() * sizeof(denoise::Vector));
    for (std::size_t c = 0; c < shapes_.size(); ++c) {
      const cuda::DenoiseComponent& component = picture_.components[c];
      saved.components.push_back({tight_bytes(component.known.estimate),
                                  tight_bytes(component.known.weight),
                                  noise_of(*component.noise),
                                  {}});
      if (picture_.noise_known && component.trends != nullptr)
        saved.components.back().trends = bytes_of(component.trends, trends(shapes_[c]));
    }
    return saved;
  }

  /// Throws Error(usage) where the state is damaged or has other components. Changes nothing.
  void check(const SavedSequence& saved) const { denoise::check(saved, shapes_); }

  /// Continues from a checked state. The device must be idle.
  void load(const SavedSequence& saved) {
    reset();
    for (std::size_t c = 0; c < shapes_.size(); ++c) {
      const cuda::DenoiseComponent& component = picture_.components[c];
      fill(component.known.estimate, saved.components[c].estimate);
      fill(component.known.weight, saved.components[c].weight);
      upload(component.noise->all, saved.components[c].noise);
      cuda::fill_device(component.noise->picture, 0, sizeof component.noise->picture,
                        "clearing the noise's counts");
      if (component.trends == nullptr) continue;
      std::string last = saved.components[c].trends;
      last.resize(trends(shapes_[c]));  // states of earlier versions have none
      upload(component.trends, last);
    }
    upload(picture_.vectors, saved.vectors);
    picture_.before = saved.pictures;
    picture_.noise_known = !saved.components[0].noise.empty();
  }

 private:
  [[nodiscard]] std::size_t blocks() const {
    return static_cast<std::size_t>(picture_.block_columns) *
           static_cast<std::size_t>(picture_.block_rows);
  }

  /// Noise blocks of a component, each of which has a trend.
  [[nodiscard]] static std::size_t trends(const ComponentShape& shape) {
    return static_cast<std::size_t>(denoise::noise_blocks(shape.columns, shape.rows));
  }

  /// Counts of all pictures; no bytes where no noise is known.
  [[nodiscard]] std::string noise_of(const NoiseCounts& noise) const {
    if (!picture_.noise_known) return {};
    std::string all = bytes_of(noise.all, sizeof noise.all);
    if (!picture_.noise_counted) return all;
    const std::string last = bytes_of(noise.picture, sizeof noise.picture);
    for (std::size_t at = 0; at < all.size(); at += sizeof(std::uint32_t)) {
      std::uint32_t before = 0;
      std::uint32_t blocks = 0;
      std::memcpy(&before, all.data() + at, sizeof before);
      std::memcpy(&blocks, last.data() + at, sizeof blocks);
      const std::uint32_t after = denoise::count_after(before, blocks);
      std::memcpy(all.data() + at, &after, sizeof after);
    }
    return all;
  }

  static std::string bytes_of(const void* memory, std::size_t bytes) {
    std::string all(bytes, '\0');
    cuda::check(cudaMemcpy(all.data(), memory, bytes, cudaMemcpyDeviceToHost), kReading);
    return all;
  }
  static void upload(void* memory, const std::string& bytes) {
    cuda::upload(memory, bytes.data(), bytes.size(), "writing what noise reduction remembers");
  }

  template <typename T>
  static std::string tight_bytes(const cuda::NumberPlane<T>& plane) {
    const std::size_t row = static_cast<std::size_t>(plane.columns) * sizeof(T);
    std::string tight(row * static_cast<std::size_t>(plane.rows), '\0');
    if (tight.empty()) return tight;
    cuda::check(cudaMemcpy2DAsync(tight.data(), row, plane.first,
                                  static_cast<std::size_t>(plane.pitch) * sizeof(T), row,
                                  static_cast<std::size_t>(plane.rows), cudaMemcpyDeviceToHost,
                                  cudaStreamLegacy),
                kReading);
    cuda::wait_for_default_stream(kReading);
    return tight;
  }
  template <typename T>
  static void fill(const cuda::NumberPlane<T>& plane, const std::string& tight) {
    const std::size_t pitch = static_cast<std::size_t>(plane.pitch) * sizeof(T);
    const std::size_t row = static_cast<std::size_t>(plane.columns) * sizeof(T);
    const auto rows = static_cast<std::size_t>(plane.rows);
    std::string all(pitch * rows, '\0');
    for (std::size_t y = 0; y < rows; ++y)
      std::memcpy(all.data() + y * pitch, tight.data() + y * row, row);
    upload(plane.first, all);
  }

  std::vector<ComponentShape> shapes_;
  DenoisePicture picture_;
};

/// Noise reduction on one GPU.
class CudaDenoiseFilter final : public TunableFilter<DenoiseParams> {
 public:
  CudaDenoiseFilter(const DenoiseParams& params, const CudaOptions& options)
      : TunableFilter(params), device_(options) {}

  ~CudaDenoiseFilter() override { device_.use_to_free(); }

  ImageDesc configure(const ImageDesc& input) override { return configure_with(input, {}); }

  [[nodiscard]] bool takes_fractions(const ImageDesc& input, Fractions fractions) const override {
    return !fractions.in && (!fractions.out || format_with_fractions(input.format));
  }

  ImageDesc configure_with(const ImageDesc& input, Fractions fractions) override {
    validate(params_, Backend::cuda, &input);
    equalux::validate(input);
    device_.use();
    launch_device_ = cuda::denoise_device();
    strips_ = cuda::estimate_strips(launch_device_);
    // Frames in flight may still read the buffers that are freed here.
    cuda::check(cudaDeviceSynchronize(), "waiting for the frames under way");
    // A failure leaves a filter that takes no frames, as what it remembers is freed by then.
    desc_ = out_desc_ = {};
    for (auto& sequence : sequences_)
      sequence.reset();
    memory_.reset();
    order_ = denoise::component_order(input.format);
    upload_tables();
    Parts frames(nullptr);
    Parts fields(nullptr);
    static_cast<void>(Sequence(denoise::component_shapes(input, std::nullopt), frames, nullptr));
    for (const int parity : {0, 1})
      static_cast<void>(Sequence(denoise::component_shapes(input, parity), fields, nullptr));
    memory_ = cuda::allocate_device<std::uint8_t>(std::max(frames.used(), fields.used()));
    noise_ = cuda::allocate_device<NoiseCounts>(kSequences * cuda::kMostComponents);
    cuda::fill_device(noise_.get(), 0, kSequences * cuda::kMostComponents * sizeof(NoiseCounts),
                      "clearing the noise's counts");
    desc_ = input;
    out_desc_ = fractions.out ? desc_with_fractions(input) : input;
    make_sequences(false);
    return out_desc_;
  }

  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    check_frames("denoise", in, desc_, out, out_desc_);
    const bool interlaced = context.field_order != FieldOrder::progressive;
    cuda::check_strides("denoise", in, interlaced);
    cuda::check_strides("denoise", out, interlaced);
    device_.use();
    const cuda::TraceRange range("denoise");
    context.dither = params_.dither;
    if (params_.strength == 0) {
      reset();
      pass_on(in, out, context);
      return;
    }
    // Streams rarely change between frames and fields, and the other kind's state is out of date by
    // then: it is dropped.
    if (interlaced != interlaced_) make_sequences(interlaced);
    if (!interlaced) {
      process(*sequences_[0], in, out, std::nullopt, context);
      return;
    }
    const int first = context.field_order == FieldOrder::top_first ? 0 : 1;
    for (const int parity : {first, 1 - first}) {
      if (desc_.height > parity)
        process(*sequences_[static_cast<std::size_t>(1 + parity)], in, out, parity, context);
    }
  }

  bool retune(const DenoiseParams& params) override {
    validate(params, Backend::cuda, desc_.width == 0 ? nullptr : &desc_);
    params_ = params;
    return true;
  }

  void reset() override {
    for (auto& sequence : sequences_)
      if (sequence) sequence->reset();
  }

  [[nodiscard]] std::string save() const override {
    if (!memory_) return "{}";
    device_.use();
    cuda::check(cudaDeviceSynchronize(), "waiting for the frames under way");
    denoise::SavedSequences saved;
    for (std::size_t i = 0; i < saved.size(); ++i)
      if (sequences_[i]) saved[i] = sequences_[i]->save();
    return denoise::state_text(desc_, saved);
  }

  void load(std::string_view state) override {
    if (!memory_) return;
    const denoise::SavedSequences saved = denoise::read_sequences(state, desc_);
    // Check all sequences before any of them changes.
    for (std::size_t i = 0; i < saved.size(); ++i)
      if (saved[i]) denoise::check(*saved[i], denoise::component_shapes(desc_, parity_of(i)));
    device_.use();
    cuda::check(cudaDeviceSynchronize(), "waiting for the frames under way");
    make_sequences(!saved[0] && (saved[1] || saved[2]));
    for (std::size_t i = 0; i < saved.size(); ++i)
      if (saved[i] && sequences_[i]) sequences_[i]->load(*saved[i]);
  }

 private:
  /// Sequences of frames, of top fields and of bottom fields.
  static constexpr std::size_t kSequences = 3;

  static std::optional<int> parity_of(std::size_t sequence) {
    if (sequence == 0) return std::nullopt;
    return static_cast<int>(sequence) - 1;
  }

  /// Makes sequences without any state, of frames or of both fields, which share one buffer.
  void make_sequences(bool interlaced) {
    interlaced_ = interlaced;
    Parts parts(memory_.get());
    for (std::size_t i = 0; i < kSequences; ++i) {
      sequences_[i].reset();
      if ((i != 0) != interlaced) continue;
      sequences_[i].emplace(denoise::component_shapes(desc_, parity_of(i)), parts,
                            noise_.get() + i * cuda::kMostComponents);
    }
  }

  void upload_tables() {
    cuda::DenoiseTables tables{denoise::weight_tables(), {}};
    for (int phase = 1; phase < denoise::kPhases; ++phase) {
      const denoise::Taps& taps = denoise::taps_of(phase);
      std::copy(taps.begin(), taps.end(), std::begin(tables.taps[phase]));
    }
    tables_ = cuda::allocate_device<cuda::DenoiseTables>(1);
    cuda::upload(tables_.get(), &tables, sizeof tables, "uploading the tables of noise reduction");
  }

  [[nodiscard]] bool leaves_fractions() const { return out_desc_.format != desc_.format; }

  /// Parameters of the kernels for one picture of a sequence.
  [[nodiscard]] DenoisePicture picture_of(const Sequence& sequence, const ConstImageView& in,
                                          const ImageView& out, std::optional<int> parity) const {
    DenoisePicture picture = sequence.picture();
    for (std::size_t i = 0; i < order_.size(); ++i) {
      picture.components[i].in = denoise::picture_samples(in, order_[i], parity);
      picture.components[i].out = denoise::picture_samples(out, order_[i], parity);
    }
    const FormatTraits& format = traits(desc_.format);
    const FormatTraits& out_format = traits(out_desc_.format);
    picture.in_words = {format.depth, format.shift};
    picture.out_words = picture.in_words;
    picture.dither = params_.dither;
    if (leaves_fractions()) {
      // Codes of 12 bits, 4 of them fractions, in the upper bits of the word. The filter that
      // rounds them takes the dither from the context.
      picture.out_words = {12, out_format.depth + out_format.shift - 12};
      picture.dither = Dither::none;
    }
    picture.leaves_fractions = leaves_fractions();
    picture.rows = denoise::frame_rows(parity);
    if (in.data[0] != out.data[0]) {
      picture.copied_in = denoise::copied_samples(in, parity);
      picture.copied_out = denoise::copied_samples(out, parity);
    }
    picture.noise = static_cast<int>(params_.noise * denoise::kLevel + 0.5);
    picture.most = params_.temporal;
    picture.spatial = static_cast<int>(params_.spatial * denoise::kMostSpatial + 0.5);
    picture.strength = static_cast<int>(params_.strength * denoise::kOne + 0.5);
    picture.tables = tables_.get();
    return picture;
  }

  void process(Sequence& sequence, const ConstImageView& in, const ImageView& out,
               std::optional<int> parity, FrameContext& context) {
    sequence.submit(picture_of(sequence, in, out, parity), launch_device_, strips_, context);
  }

  /// Passes the samples on unchanged, for a strength of 0.
  void pass_on(const ConstImageView& in, const ImageView& out, FrameContext& context) {
    if (in.data[0] == out.data[0]) return;
    const auto stream = static_cast<cudaStream_t>(context.stream);
    if (leaves_fractions()) {
      if (interlaced_) make_sequences(false);
      denoise_smooth(picture_of(*sequences_[0], in, out, std::nullopt), launch_device_, stream);
    } else {
      cuda::denoise_copy(in, out, launch_device_, stream);
    }
    context.mark("smooth");
  }

  cuda::FilterDevice device_;
  cuda::LaunchDevice launch_device_;
  int strips_ = 0;  ///< cuda::estimate_strips()
  ImageDesc desc_;
  ImageDesc out_desc_;  // has another format where results keep fractions
  std::vector<int> order_;
  bool interlaced_ = false;
  cuda::DevicePointer<std::uint8_t> memory_;  // buffer of all sequences
  cuda::DevicePointer<NoiseCounts> noise_;    // by sequence and component
  cuda::DevicePointer<cuda::DenoiseTables> tables_;
  std::array<std::optional<Sequence>, kSequences> sequences_;  // of frames or of fields; the others
                                                               // are empty
};

}  // namespace

std::unique_ptr<Filter> make_cuda_filter(const DenoiseParams& params, const CudaOptions& options) {
  validate(params, Backend::cuda);
  return std::make_unique<CudaDenoiseFilter>(params, options);
}

}  // namespace equalux

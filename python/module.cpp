#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <equalux/device.h>
#include <equalux/error.h>
#include <equalux/filter.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include "python/dlpack_frame.h"
#include "python/result_memory.h"
#include "src/common/cuda_memory.h"
#include "src/common/log.h"
#include "src/cpu/common/parallel.h"
#include "src/host/host_filter.h"
#include "src/options/option_values.h"
#include "src/quality/clip_meter.h"
#include "src/quality/figures_json.h"

/// Module equalux._equalux: filters over addresses and strides. equalux/_arrays.py decides which
/// arrays are frames. Nothing here touches a Python object while a frame is filtered, so that the
/// GIL is free for other threads.
namespace py = pybind11;

namespace equalux {
namespace {

/// Releases the GIL while C++ works. An interpreter that exits ends daemon threads that ask for the
/// GIL by unwinding their stacks, which must not pass a destructor. Such a thread waits here until
/// the process ends, a moment later.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;)
        ::pause();
    }
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// Addresses and strides of a frame's planes.
using PlaneList = std::vector<std::pair<std::uintptr_t, std::ptrdiff_t>>;

template <typename Enum>
Enum one_of(std::string_view what, const std::string& name, std::initializer_list<Enum> all,
            std::string_view (*spelling)(Enum)) {
  std::vector<std::string_view> names;
  for (const Enum each : all) {
    if (spelling(each) == name) return each;
    names.push_back(spelling(each));
  }
  throw_usage(std::string(what) + " is " + equalux::quoted(name) + ", must be " +
              list_of_names(names));
}

std::string_view field_order_name(FieldOrder order) {
  switch (order) {
    case FieldOrder::top_first:
      return "top-first";
    case FieldOrder::bottom_first:
      return "bottom-first";
    case FieldOrder::progressive:
      break;
  }
  return "progressive";
}

FieldOrder field_order_from(const std::string& name) {
  return one_of<FieldOrder>(
      "field_order", name,
      {FieldOrder::progressive, FieldOrder::top_first, FieldOrder::bottom_first},
      &field_order_name);
}

/// Returns `desc` with the colours that two spellings name.
ImageDesc with_colour(ImageDesc desc, const std::string& matrix, const std::string& range) {
  desc.matrix = one_of<ColorMatrix>("matrix", matrix,
                                    {ColorMatrix::bt601, ColorMatrix::bt709, ColorMatrix::bt2020},
                                    [](ColorMatrix each) { return to_string(each); });
  desc.range = one_of<ColorRange>("range", range, {ColorRange::limited, ColorRange::full},
                                  [](ColorRange each) { return to_string(each); });
  return desc;
}

ImageDesc desc_of(const std::string& format, int width, int height, const std::string& matrix,
                  const std::string& range) {
  const std::optional<PixelFormat> known = pixel_format_from(format);
  if (!known) throw_usage("format is " + equalux::quoted(format) + ", which is unknown");
  return with_colour({*known, width, height}, matrix, range);
}

ImageView view_of(const ImageDesc& desc, const PlaneList& planes) {
  if (planes.size() != static_cast<std::size_t>(traits(desc.format).planes)) {
    throw_usage("a frame of " + std::string(to_string(desc.format)) + " has " +
                std::to_string(traits(desc.format).planes) + " planes, not " +
                std::to_string(planes.size()));
  }
  ImageView view{desc, {}, {}};
  for (std::size_t p = 0; p < planes.size(); ++p) {
    view.data[p] = reinterpret_cast<std::uint8_t*>(planes[p].first);
    view.stride[p] = planes[p].second;
  }
  return view;
}

/// Specs as pairs of a name and its options.
using Specs = std::vector<std::pair<std::string, OptionValues>>;

std::vector<FilterSpec> specs_of(const Specs& specs) {
  std::vector<FilterSpec> all;
  for (const auto& [name, options] : specs)
    all.push_back({name, options});
  return all;
}

/// HostFilter that threads share, one at a time. Call it without the GIL.
class SharedFilter {
 public:
  SharedFilter(const Specs& specs, bool cuda, int threads, int device, double rate)
      : filter_(specs_of(specs), {cuda ? Backend::cuda : Backend::cpu, threads, device, rate}) {}

  bool accepts(const std::string& format) {
    const std::optional<PixelFormat> known = pixel_format_from(format);
    const std::lock_guard lock(mutex_);
    return known && filter_.accepts(*known);
  }
  std::tuple<std::string, int, int> configure(const std::string& format, int width, int height,
                                              const std::string& matrix, const std::string& range) {
    const std::lock_guard lock(mutex_);
    in_ = desc_of(format, width, height, matrix, range);
    validate(in_);
    out_ = filter_.configure(in_);
    return {std::string(to_string(out_.format)), out_.width, out_.height};
  }
  bool works_in_place() {
    const std::lock_guard lock(mutex_);
    return filter_.works_in_place();
  }
  void submit(const PlaneList& in, const PlaneList& out, std::optional<std::int64_t> pts_ns,
              bool discontinuity, const std::string& field_order, std::uintptr_t stream) {
    const std::lock_guard lock(mutex_);
    FrameContext context = filter_.next();
    if (pts_ns) context.pts_ns = *pts_ns;
    context.discontinuity = discontinuity;
    if (!field_order.empty()) context.field_order = field_order_from(field_order);
    context.stream = reinterpret_cast<void*>(stream);
    filter_.submit(view_of(in_, in), view_of(out_, out), context);
  }
  void update(std::size_t index, const OptionValues& values) {
    const std::lock_guard lock(mutex_);
    filter_.update(index, values);
  }
  void reset() {
    const std::lock_guard lock(mutex_);
    filter_.reset();
  }
  std::string save() {
    const std::lock_guard lock(mutex_);
    return filter_.save();
  }
  void load(const std::string& state) {
    const std::lock_guard lock(mutex_);
    filter_.load(state);
  }

 private:
  std::mutex mutex_;
  HostFilter filter_;
  ImageDesc in_;
  ImageDesc out_;
};

/// Figures of a clip of bgr frames, or of a clip and its result.
class Meter {
 public:
  Meter(int width, int height, bool pair)
      : desc_(valid({PixelFormat::bgr, width, height})), meter_(width, height, pair) {}
  void add(const PlaneList& a, const PlaneList& b) {
    const std::lock_guard lock(mutex_);
    const ConstImageView first = view_of(desc_, a);
    if (b.empty()) return meter_.add(first, nullptr);
    const ConstImageView second = view_of(desc_, b);
    meter_.add(first, &second);
  }
  std::string json() {
    const std::lock_guard lock(mutex_);
    if (meter_.frames() == 0) throw Error(ExitCode::bad_input, "there is no frame to measure");
    return quality::figures_text(meter_.figures());
  }

 private:
  static ImageDesc valid(const ImageDesc& desc) {
    validate(desc);
    return desc;
  }

  std::mutex mutex_;
  ImageDesc desc_;
  quality::ClipMeter meter_;
};

py::dict format_row(const FormatTraits& row) {
  const auto model = static_cast<std::size_t>(row.model);
  static constexpr std::string_view kModels[] = {"gray", "rgb", "yuv", "real"};
  return py::dict(py::arg("model") = kModels[model], py::arg("planes") = row.planes,
                  py::arg("shift_x") = row.chroma_shift_x, py::arg("shift_y") = row.chroma_shift_y,
                  py::arg("step") = py::make_tuple(row.step[0], row.step[1], row.step[2]),
                  py::arg("depth") = row.depth);
}

py::dict option_row(const Option& option) {
  static constexpr std::string_view kTypes[] = {"number", "whole", "onoff", "name", "text", "file"};
  py::list names;
  for (const OptionName& each : option.names)
    names.append(py::str(std::string(each.name)));
  return py::dict(
      py::arg("key") = option.key, py::arg("title") = option.title,
      py::arg("help") = option_help(option), py::arg("range") = option_range(option),
      py::arg("default") = option_default(option), py::arg("fallback") = option.fallback,
      py::arg("unit") = option.unit, py::arg("group") = option.group, py::arg("word") = option.word,
      py::arg("names") = names, py::arg("type") = kTypes[static_cast<std::size_t>(option.type)],
      py::arg("live") = option.live, py::arg("cuda_only") = option.backends == Backends::cuda);
}

py::list filter_rows() {
  py::list filters;
  for (const FilterInfo& filter : filter_list()) {
    py::list options;
    for (const Option& option : filter.options)
      options.append(option_row(option));
    filters.append(py::dict(py::arg("name") = filter.name, py::arg("summary") = filter.summary,
                            py::arg("description") = filter.description,
                            py::arg("options") = options));
  }
  return filters;
}

void translate_errors(py::module_& module) {
  // Never freed, as the interpreter may end before this library is unloaded.
  static const auto* const error =
      new py::object(py::exception<Error>(module, "Error", PyExc_ValueError));
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& from) {
      py::object value = (*error)(printable(from.what()));
      value.attr("code") = static_cast<int>(from.code());
      PyErr_SetObject(error->ptr(), value.ptr());
    }
  });
}

}  // namespace
}  // namespace equalux

PYBIND11_MODULE(_equalux, module) {
  using namespace equalux;
  using WhileUnlocked = py::call_guard<Unlocked>;
  translate_errors(module);
  module.attr("version") = std::string(version());
  module.def("simd_target", &cpu_simd_target,
             "Name of the SIMD target that filters on the CPU run here, e.g. 'AVX3_DL'.");
  module.def(
      "cuda_status",
      [] {
        const CudaStatus status = cuda_status();
        return py::make_tuple(status.available, status.reason);
      },
      "Whether filters can run on a GPU here, and why not.");
  module.def("formats", [] {
    py::dict rows;
    for (const FormatTraits& each : kFormatTraits)
      rows[py::str(std::string(each.name))] = format_row(each);
    return rows;
  });
  module.def("filters", &filter_rows);
  module.def("validate", [](const std::string& format, int width, int height) {
    validate(desc_of(format, width, height, "bt709", "limited"));
  });
  module.def("nearest", [](const std::string& name, const std::vector<std::string>& names) {
    return nearest_name(name, names);
  });
  module.def("parse", [](const std::string& text) {
    const FilterSpec spec = parse_filter_spec(text);
    return std::make_pair(spec.name, spec.options);
  });
  module.def("check", [](const Specs& specs, const std::string& backend, int threads,
                         const std::string& matrix, const std::string& range) {
    const std::optional<Backend> known = enum_from<Backend>(backend);
    if (!known)
      throw_usage("backend is " + equalux::quoted(backend) + ", must be " +
                  list_of_names(enum_names<Backend>()));
    for (const FilterSpec& each : specs_of(specs))
      throw_violations(violations(each, {}, *known));
    check_threads(threads);
    static_cast<void>(with_colour({}, matrix, range));
  });
  module.def("cuda_device_of", [](std::uintptr_t address) {
    return cuda_device_of(reinterpret_cast<const void*>(address));
  });
  module.def(
      "cuda_wait",
      [](int device, std::uintptr_t stream, std::uintptr_t before) {
        cuda_wait(device, reinterpret_cast<void*>(stream), reinterpret_cast<void*>(before));
      },
      WhileUnlocked());

  py::class_<SharedFilter>(module, "Filter")
      .def(py::init<const Specs&, bool, int, int, double>(), py::arg("specs"), py::arg("cuda"),
           py::arg("threads"), py::arg("device"), py::arg("rate"), WhileUnlocked())
      .def("accepts", &SharedFilter::accepts, WhileUnlocked())
      .def("configure", &SharedFilter::configure, WhileUnlocked())
      .def("works_in_place", &SharedFilter::works_in_place, WhileUnlocked())
      .def("submit", &SharedFilter::submit, WhileUnlocked())
      .def("update", &SharedFilter::update, WhileUnlocked())
      .def("reset", &SharedFilter::reset, WhileUnlocked())
      .def("save", &SharedFilter::save, WhileUnlocked())
      .def("load", &SharedFilter::load, WhileUnlocked());
  py::class_<Meter>(module, "Meter")
      .def(py::init<int, int, bool>())
      .def("add", &Meter::add, WhileUnlocked())
      .def("json", &Meter::json, WhileUnlocked());
  python::define_result_memory(module);
  python::define_dlpack_frame(module);
}

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <equalux/equalux.h>
#include <equalux/error.h>
#include <equalux/filter.h>

#include "src/common/log.h"
#include "src/host/host_filter.h"
#include "src/options/option_values.h"

/// C interface: converts texts and numbers, calls HostFilter, and returns statuses.

struct equalux_filter {
  equalux::HostFilter filter;
  equalux::ImageDesc in;
  equalux::ImageDesc out;
};

namespace {

using namespace equalux;

std::string& last_error() {
  thread_local std::string text;
  return text;
}

equalux_status failed(equalux_status status, const char* text) noexcept {
  try {
    last_error() = printable(text);
  } catch (const std::exception&) {
    last_error().clear();  // without memory for a message the status must do
  }
  return status;
}

equalux_status status_of(ExitCode code) {
  switch (code) {
    case ExitCode::usage:
      return EQUALUX_USAGE;
    case ExitCode::bad_input:
      return EQUALUX_BAD_INPUT;
    case ExitCode::no_input:
      return EQUALUX_NO_INPUT;
    case ExitCode::unavailable:
      return EQUALUX_UNAVAILABLE;
    default:
      return EQUALUX_FAILED;
  }
}

/// Runs code that may throw, and returns its status.
template <typename Work>
equalux_status guarded(const Work& work) noexcept {
  try {
    work();
    return EQUALUX_DONE;
  } catch (const Error& error) {
    return failed(status_of(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return failed(EQUALUX_UNAVAILABLE, "there is not enough memory");
  } catch (const std::exception& error) {
    return failed(EQUALUX_FAILED, error.what());
  } catch (...) {
    return failed(EQUALUX_FAILED, "something unknown failed");
  }
}

template <typename T>
const T& given(const T* pointer, const char* what) {
  if (pointer == nullptr) throw_usage(std::string(what) + " is NULL, must be given");
  return *pointer;
}
template <typename T>
T& given(T* pointer, const char* what) {
  return const_cast<T&>(given(static_cast<const T*>(pointer), what));
}

/// Returns the enumerator of 0 to `last` for a number.
template <typename Enum>
Enum enum_of(std::int32_t number, Enum last, const char* what) {
  if (number < 0 || number > static_cast<std::int32_t>(last)) {
    throw_usage(std::string(what) + " is " + std::to_string(number) + ", must be 0 to " +
                std::to_string(static_cast<int>(last)));
  }
  return static_cast<Enum>(number);
}

/// Returns the enumerator of a spelling, among all up to `last`; `usual` for null.
template <typename Enum>
Enum named(const char* name, Enum usual, Enum last, const char* what) {
  if (name == nullptr) return usual;
  std::vector<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    names.push_back(to_string(static_cast<Enum>(i)));
    if (names.back() == name) return static_cast<Enum>(i);
  }
  throw_usage(std::string(what) + " is " + quoted(name) + ", must be " + list_of_names(names));
}

ImageDesc desc_from(const equalux_desc& from) {
  const std::string name(&given(from.format, "format"));
  const std::optional<PixelFormat> format = pixel_format_from(name);
  if (!format) {
    std::vector<std::string_view> names;
    for (const FormatTraits& each : kFormatTraits)
      names.push_back(each.name);
    throw_usage("format is " + quoted(name) + ", must be " +
                nearest_or_all(lower_case(name), names));
  }
  ImageDesc desc{*format, from.width, from.height};
  desc.matrix = named(from.matrix, ColorMatrix::bt709, ColorMatrix::bt2020, "matrix");
  desc.range = named(from.range, ColorRange::limited, ColorRange::full, "range");
  validate(desc);
  return desc;
}

equalux_desc desc_to(const ImageDesc& desc) {
  // Views of literals, which are terminated by 0.
  return {to_string(desc.format).data(), desc.width, desc.height, to_string(desc.matrix).data(),
          to_string(desc.range).data()};
}

ImageView view_of(const ImageDesc& desc, const equalux_planes& planes, const char* what) {
  ImageView view{desc, {}, {}};
  for (std::size_t p = 0; p < static_cast<std::size_t>(traits(desc.format).planes); ++p) {
    if (planes.data[p] == nullptr) {
      throw_usage(std::string(what) + " has no plane " + std::to_string(p) + ", must be " +
                  std::to_string(traits(desc.format).planes) + " planes of " +
                  std::string(to_string(desc.format)));
    }
    view.data[p] = static_cast<std::uint8_t*>(planes.data[p]);
    view.stride[p] = planes.stride[p];
  }
  return view;
}

FrameContext context_of(const HostFilter& filter, const equalux_moment* moment) {
  FrameContext context = filter.next();
  if (moment == nullptr) return context;
  context.index = moment->index;
  context.pts_ns = moment->pts_ns;
  context.discontinuity = moment->discontinuity != 0;
  context.field_order = enum_of(moment->field_order, FieldOrder::bottom_first, "field_order");
  context.stream = moment->stream;
  return context;
}

int checked_plane(const ImageDesc& desc, int plane) {
  if (plane < 0 || plane >= traits(desc.format).planes) {
    throw_usage("plane is " + std::to_string(plane) + ", must be 0 to " +
                std::to_string(traits(desc.format).planes - 1));
  }
  return plane;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): names of C.
extern "C" {

const char* equalux_version(void) {
  static const std::string text(version());
  return text.c_str();
}

const char* equalux_last_error(void) {
  return last_error().c_str();
}

equalux_status equalux_filter_create(const char* const* specs, size_t count,
                                     const equalux_options* options, equalux_filter** filter) {
  return guarded([&] {
    given(filter, "filter") = nullptr;
    HostOptions how;
    if (options != nullptr) {
      const auto backend = enum_of(options->backend, EQUALUX_CUDA, "backend");
      how.backend = backend == EQUALUX_CUDA ? Backend::cuda : Backend::cpu;
      how.threads = options->threads;
      how.device = options->device;
    }
    std::vector<FilterSpec> parsed;
    for (size_t i = 0; i < count; ++i)
      parsed.push_back(parse_filter_spec(&given((&given(specs, "specs"))[i], "a spec")));
    *filter = new equalux_filter{HostFilter(parsed, how), {}, {}};
  });
}

void equalux_filter_free(equalux_filter* filter) {
  delete filter;
}

int equalux_filter_accepts(const equalux_filter* filter, const char* format) {
  int accepts = 0;
  static_cast<void>(guarded([&] {
    const std::optional<PixelFormat> known = pixel_format_from(&given(format, "format"));
    accepts = known && given(filter, "filter").filter.accepts(*known) ? 1 : 0;
  }));
  return accepts;
}

equalux_status equalux_filter_configure(equalux_filter* filter, const equalux_desc* input,
                                        equalux_desc* output) {
  return guarded([&] {
    given(filter, "filter").in = desc_from(given(input, "input"));
    filter->out = filter->filter.configure(filter->in);
    if (output != nullptr) *output = desc_to(filter->out);
  });
}

int equalux_filter_works_in_place(const equalux_filter* filter) {
  return filter != nullptr && filter->filter.works_in_place() ? 1 : 0;
}

equalux_status equalux_filter_frame(equalux_filter* filter, const equalux_planes* in,
                                    const equalux_planes* out, const equalux_moment* moment) {
  return guarded([&] {
    const ImageView from = view_of(given(filter, "filter").in, given(in, "in"), "in");
    const ImageView to = view_of(filter->out, given(out, "out"), "out");
    filter->filter.submit(from, to, context_of(filter->filter, moment));
  });
}

equalux_status equalux_filter_update(equalux_filter* filter, size_t index, const char* key,
                                     const char* value) {
  return guarded([&] {
    given(filter, "filter").filter.update(index, {{&given(key, "key"), &given(value, "value")}});
  });
}

equalux_status equalux_filter_reset(equalux_filter* filter) {
  return guarded([&] { given(filter, "filter").filter.reset(); });
}

equalux_status equalux_filter_save(equalux_filter* filter, char** state) {
  return guarded([&] {
    given(state, "state") = nullptr;
    const std::string text = given(filter, "filter").filter.save();
    auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy == nullptr) throw std::bad_alloc();
    std::memcpy(copy, text.c_str(), text.size() + 1);
    *state = copy;
  });
}

equalux_status equalux_filter_load(equalux_filter* filter, const char* state) {
  return guarded([&] { given(filter, "filter").filter.load(&given(state, "state")); });
}

void equalux_text_free(char* text) {
  std::free(text);
}

int equalux_plane_count(const equalux_desc* desc) {
  int count = 0;
  static_cast<void>(guarded([&] { count = traits(desc_from(given(desc, "desc")).format).planes; }));
  return count;
}

size_t equalux_row_bytes(const equalux_desc* desc, int plane) {
  size_t bytes = 0;
  static_cast<void>(guarded([&] {
    const ImageDesc known = desc_from(given(desc, "desc"));
    bytes = row_bytes(known, checked_plane(known, plane));
  }));
  return bytes;
}

int equalux_plane_rows(const equalux_desc* desc, int plane) {
  int rows = 0;
  static_cast<void>(guarded([&] {
    const ImageDesc known = desc_from(given(desc, "desc"));
    rows = plane_rows(known, checked_plane(known, plane));
  }));
  return rows;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)

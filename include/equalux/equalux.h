#pragma once

#include <equalux/export.h>
#include <stddef.h>
#include <stdint.h>

/// C interface of equalux: filters of frames, for programs and languages that call C functions.
///
/// A function that can fail returns an equalux_status, EQUALUX_DONE on success. After a failure
/// equalux_last_error() returns one line that says what was wrong and what would be right, the same
/// line that the program prints. No C++ exception leaves these functions. Names of formats, filters
/// and options are those of the program: `equalux run --help-all` and docs/library.md list them.
///
/// One thread at a time may use a filter; distinct filters are independent.
///
///     equalux_filter* filter = NULL;
///     const char* specs[] = {"denoise", "clahe:tiles=4,4"};
///     if (equalux_filter_create(specs, 2, NULL, &filter) != EQUALUX_DONE)
///       return complain(equalux_last_error());

#ifdef __cplusplus
extern "C" {
#endif

/// Result of a call; the numbers are the exit codes of the program equalux.
typedef enum equalux_status {
  EQUALUX_DONE = 0,
  EQUALUX_USAGE = 2,         ///< a parameter is wrong or a name is unknown
  EQUALUX_BAD_INPUT = 65,    ///< a file that an option names cannot be read
  EQUALUX_NO_INPUT = 66,     ///< a file that an option names is missing
  EQUALUX_UNAVAILABLE = 69,  ///< known, but not usable here: no CUDA, no device, no memory
  EQUALUX_FAILED = 70        ///< anything else; the message says what
} equalux_status;

/// A chain of one or more filters; frames pass through them in order.
typedef struct equalux_filter equalux_filter;

/// Size, format and colour of a frame, without its memory.
typedef struct equalux_desc {
  const char* format;  ///< "bgr", "nv12", "gray16_le", ...: see docs/library.md; case is ignored
  int32_t width;       ///< pixels, 1 to 65535
  int32_t height;      ///< pixels, 1 to 65535
  const char* matrix;  ///< YCbCr only: "bt601", "bt709" or "bt2020"; NULL = bt709
  const char* range;   ///< YCbCr only: "limited" or "full"; NULL = limited
} equalux_desc;

/// Memory of a frame, owned by the caller. data[p] is the first byte of the top row of plane p;
/// stride[p] is the distance in bytes from the start of a row to the start of the row below. It may
/// be larger than a row, and negative where rows are stored bottom up; rows of a result must not
/// overlap. Data may have any alignment.
typedef struct equalux_planes {
  void* data[3];
  ptrdiff_t stride[3];
} equalux_planes;

typedef enum equalux_backend {
  EQUALUX_CPU = 0,  ///< frames lie in the host's memory; a call returns when its frame is done
  EQUALUX_CUDA = 1  ///< frames lie in a device's memory; a call enqueues on the caller's stream
} equalux_backend;

/// Backend on which filters run. Start from {0}, the CPU with all its cores.
typedef struct equalux_options {
  int32_t backend;  ///< an equalux_backend
  int32_t threads;  ///< threads of the CPU backend, 0 to 1024; 0 = one for each core
  int32_t device;   ///< CUDA's ordinal; -1 = the device with most free memory
} equalux_options;

/// Order of fields: rows of one picture, or rows that alternate between two.
typedef enum equalux_field_order {
  EQUALUX_PROGRESSIVE = 0,
  EQUALUX_TOP_FIRST = 1,
  EQUALUX_BOTTOM_FIRST = 2
} equalux_field_order;

/// Metadata of a frame that filters use. Start from {0}.
typedef struct equalux_moment {
  uint64_t index;  ///< number of the frame in its stream, from 0
  /// Presentation time in nanoseconds, within 4e18 of 0; temporal filters go by it.
  int64_t pts_ns;
  int32_t discontinuity;  ///< not 0 where frames before this one are missing
  int32_t field_order;    ///< an equalux_field_order
  void* stream;           ///< CUDA: the cudaStream_t to enqueue on; NULL = the default stream
} equalux_moment;

/// Returns the library's version, "major.minor.patch".
EQUALUX_EXPORT const char* equalux_version(void);

/// Returns the message of the last function that failed in this thread, "" if none has. The text
/// stays valid until the next failure in this thread.
EQUALUX_EXPORT const char* equalux_last_error(void);

/// Makes a chain of `count` filters in *filter. Each spec is `name[:key=value[,key=value...]]`, as
/// for the program's --filter. `options` may be NULL: the CPU with all its cores. The caller frees
/// the filter; *filter is NULL after a failure: EQUALUX_USAGE for a wrong spec, EQUALUX_UNAVAILABLE
/// where no device answers or this build has no CUDA.
EQUALUX_EXPORT equalux_status equalux_filter_create(const char* const* specs, size_t count,
                                                    const equalux_options* options,
                                                    equalux_filter** filter);

/// Frees a filter; NULL is allowed. Wait for its frames on a CUDA stream first.
EQUALUX_EXPORT void equalux_filter_free(equalux_filter* filter);

/// Returns 1 for a format that the filter takes, else 0, also for an unknown name.
EQUALUX_EXPORT int equalux_filter_accepts(const equalux_filter* filter, const char* format);

/// Fixes size and format of the frames to come and allocates all memory. `output`, unless NULL,
/// receives the description of results; its strings stay valid for ever. May be called again, which
/// forgets the frames before.
EQUALUX_EXPORT equalux_status equalux_filter_configure(equalux_filter* filter,
                                                       const equalux_desc* input,
                                                       equalux_desc* output);

/// Returns 1 where input and output may be the same memory with the same strides, else 0.
EQUALUX_EXPORT int equalux_filter_works_in_place(const equalux_filter* filter);

/// Filters one frame. `in` must have the configured description and `out` room for a result. They
/// are either the same memory, where equalux_filter_works_in_place() returns 1, or do not overlap.
/// With `moment` NULL the filter numbers the frames itself, 1/30 s apart. On the CPU the result is
/// complete when the call returns; on CUDA the call only enqueues. Allocates no memory.
EQUALUX_EXPORT equalux_status equalux_filter_frame(equalux_filter* filter, const equalux_planes* in,
                                                   const equalux_planes* out,
                                                   const equalux_moment* moment);

/// Changes an option for the frames to come. `index` is the number of the spec, from 0. An empty
/// `value` unsets an option that may be unset. Returns EQUALUX_USAGE for an unknown key, for a
/// wrong value, and where the change would need another format of results; the filter is then
/// unchanged.
EQUALUX_EXPORT equalux_status equalux_filter_update(equalux_filter* filter, size_t index,
                                                    const char* key, const char* value);

/// Forgets the frames seen so far.
EQUALUX_EXPORT equalux_status equalux_filter_reset(equalux_filter* filter);

/// Saves the temporal state of a configured filter as JSON text in *state, which the caller frees
/// with equalux_text_free(). On CUDA this waits for the frames under way.
EQUALUX_EXPORT equalux_status equalux_filter_save(equalux_filter* filter, char** state);

/// Restores a state of equalux_filter_save() in a filter with the same specs, configured alike.
/// Returns EQUALUX_USAGE where the state does not fit; the filter is then unchanged.
EQUALUX_EXPORT equalux_status equalux_filter_load(equalux_filter* filter, const char* state);

/// Frees a text that equalux_filter_save() made; NULL is allowed.
EQUALUX_EXPORT void equalux_text_free(char* text);

/// Returns the number of planes of a format, 0 for a wrong description; equalux_last_error() then
/// says what is wrong.
EQUALUX_EXPORT int equalux_plane_count(const equalux_desc* desc);
/// Returns the bytes of samples in one row of a plane, without padding. `plane` counts from 0. Odd
/// widths round chroma up. Returns 0 for a wrong description or plane, as equalux_plane_count().
EQUALUX_EXPORT size_t equalux_row_bytes(const equalux_desc* desc, int plane);
/// Returns the rows of a plane. Odd heights round chroma up. Returns 0 as equalux_row_bytes().
EQUALUX_EXPORT int equalux_plane_rows(const equalux_desc* desc, int plane);

#ifdef __cplusplus
}
#endif

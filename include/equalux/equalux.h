#pragma once

#include <equalux/export.h>
#include <stddef.h>
#include <stdint.h>

/// equalux in C: filters of frames, for programs and languages that call C functions.
///
/// A function that can fail returns an equalux_status, EQUALUX_DONE where all went well; then
/// equalux_last_error() has one line of what was wrong and what would be right, the same that the
/// program equalux prints. Nothing is thrown through these functions. Names of formats, filters and
/// options are the program's: `equalux run --help-all` and docs/library.md list them.
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

/// What became of a call; the numbers are the exit codes of the program equalux.
typedef enum equalux_status {
  EQUALUX_DONE = 0,
  EQUALUX_USAGE = 2,         ///< a parameter is wrong, or a name unknown
  EQUALUX_BAD_INPUT = 65,    ///< a file that an option names cannot be read as what it should be
  EQUALUX_NO_INPUT = 66,     ///< a file that an option names is missing
  EQUALUX_UNAVAILABLE = 69,  ///< known, but not usable here: no CUDA, no device, no memory
  EQUALUX_FAILED = 70        ///< anything else; the message says what
} equalux_status;

/// Filters that work one after another.
typedef struct equalux_filter equalux_filter;

/// Size, format and colour of a frame; says nothing of where its bytes are.
typedef struct equalux_desc {
  const char* format;  ///< "bgr", "nv12", "gray16_le", ...: see docs/library.md; case is ignored
  int32_t width;       ///< pixels, 1 to 65535
  int32_t height;      ///< pixels, 1 to 65535
  const char* matrix;  ///< YCbCr only: "bt601", "bt709" or "bt2020"; NULL = bt709
  const char* range;   ///< YCbCr only: "limited" or "full"; NULL = limited
} equalux_desc;

/// Memory of a frame. data[p] is the first byte of the top row of plane p; stride[p] is the
/// distance in bytes from the start of a row to the start of the row below it. A stride may be
/// larger than the row, and negative where rows are stored bottom up; that of a result is never
/// less than the row. No alignment is assumed. The memory stays the caller's.
typedef struct equalux_planes {
  void* data[3];
  ptrdiff_t stride[3];
} equalux_planes;

typedef enum equalux_backend {
  EQUALUX_CPU = 0,  ///< frames lie in the host's memory; a call returns when its frame is done
  EQUALUX_CUDA = 1  ///< frames lie in a device's memory; a call enqueues on the caller's stream
} equalux_backend;

/// How filters are made. Begin with {0}: 0 everywhere is the CPU with all its cores.
typedef struct equalux_options {
  int32_t backend;  ///< an equalux_backend
  int32_t threads;  ///< of the CPU; 0 = all cores
  int32_t device;   ///< CUDA: its number, or -1 for the first with most free memory
} equalux_options;

/// How the rows of a frame belong to fields.
typedef enum equalux_field_order {
  EQUALUX_PROGRESSIVE = 0,
  EQUALUX_TOP_FIRST = 1,
  EQUALUX_BOTTOM_FIRST = 2
} equalux_field_order;

/// What a filter is told about a frame beside its bytes. Begin with {0}.
typedef struct equalux_moment {
  uint64_t index;         ///< of the frame in its stream, from 0
  int64_t pts_ns;         ///< when it is shown, in nanoseconds, within 4e18 of 0; filters over time
                          ///< go by it
  int32_t discontinuity;  ///< not 0 where frames before this one are missing
  int32_t field_order;    ///< an equalux_field_order
  void* stream;           ///< CUDA: the cudaStream_t to enqueue on; NULL = the default stream
} equalux_moment;

/// The library's version, "major.minor.patch".
EQUALUX_EXPORT const char* equalux_version(void);

/// What the last function that failed in this thread had to say; "" where none has. Stays the same
/// until another one fails in this thread.
EQUALUX_EXPORT const char* equalux_last_error(void);

/// Makes a filter of `count` specs, each `name[:key=value[,key=value...]]` as behind the program's
/// --filter, that work one after another. `options` may be NULL: the CPU with all its cores. The
/// caller frees *filter, which is NULL where this fails: EQUALUX_USAGE for a spec that is no good,
/// EQUALUX_UNAVAILABLE where no device answers or this build has no CUDA.
EQUALUX_EXPORT equalux_status equalux_filter_create(const char* const* specs, size_t count,
                                                    const equalux_options* options,
                                                    equalux_filter** filter);

/// Frees a filter; NULL is left alone. Frames on a CUDA stream must be done.
EQUALUX_EXPORT void equalux_filter_free(equalux_filter* filter);

/// 1 where frames of a format may be handed over, else 0. Unknown names are not taken.
EQUALUX_EXPORT int equalux_filter_accepts(const equalux_filter* filter, const char* format);

/// Fixes size and format of the frames to come and allocates everything. Where `output` is not NULL
/// it gets the results' description; the text in it is valid for ever. May be called again: what
/// the filter knows of the frames before is forgotten then.
EQUALUX_EXPORT equalux_status equalux_filter_configure(equalux_filter* filter,
                                                       const equalux_desc* input,
                                                       equalux_desc* output);

/// 1 where a frame may be filtered into its own memory, with the same strides; else 0.
EQUALUX_EXPORT int equalux_filter_works_in_place(const equalux_filter* filter);

/// Filters one frame of the description that was configured into memory for a result. Both are the
/// same, where equalux_filter_works_in_place() allows it, or do not overlap. `moment` may be NULL:
/// frames are numbered by the filter then, and lie a thirtieth of a second apart. Allocates
/// nothing.
EQUALUX_EXPORT equalux_status equalux_filter_frame(equalux_filter* filter, const equalux_planes* in,
                                                   const equalux_planes* out,
                                                   const equalux_moment* moment);

/// Gives one option another value for the frames to come. `index` says of which spec, from 0; key
/// and value are as in a spec. EQUALUX_USAGE for an unknown key and a value that is no good, and
/// where results would have another format, which takes a new filter; all stays as it was then.
EQUALUX_EXPORT equalux_status equalux_filter_update(equalux_filter* filter, size_t index,
                                                    const char* key, const char* value);

/// Forgets the frames seen so far.
EQUALUX_EXPORT equalux_status equalux_filter_reset(equalux_filter* filter);

/// What a configured filter knows of the frames before, as a JSON text that *state points to. The
/// caller gives it back by equalux_text_free(). On CUDA it waits for the frames under way.
EQUALUX_EXPORT equalux_status equalux_filter_save(equalux_filter* filter, char** state);

/// Restores what equalux_filter_save() gave, in a filter of the same specs that is configured
/// alike. EQUALUX_USAGE where it does not fit; all stays as it was then.
EQUALUX_EXPORT equalux_status equalux_filter_load(equalux_filter* filter, const char* state);

/// Frees a text that a function has made; NULL is left alone.
EQUALUX_EXPORT void equalux_text_free(char* text);

/// How a format lies in memory. 0 where the description is no good; equalux_last_error() says why.
EQUALUX_EXPORT int equalux_plane_count(const equalux_desc* desc);
/// Bytes of sample data in one row of a plane, from 0, without padding. Odd widths round chroma up.
EQUALUX_EXPORT size_t equalux_row_bytes(const equalux_desc* desc, int plane);
/// Rows of a plane. Odd heights round chroma up.
EQUALUX_EXPORT int equalux_plane_rows(const equalux_desc* desc, int plane);

#ifdef __cplusplus
}
#endif

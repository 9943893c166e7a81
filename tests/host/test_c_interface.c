// The C interface, used as programs in C use it.
#include <equalux/equalux.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cxx_frames.h"

static int failures = 0;

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s does not hold; last error: %s\n", __FILE__, __LINE__, #condition, \
              equalux_last_error());                                                               \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (0)
#define EXPECT_ERROR(call, status, text)                                                \
  do {                                                                                  \
    EXPECT((call) == (status));                                                         \
    if (strcmp(equalux_last_error(), text) != 0) {                                      \
      fprintf(stderr, "%s:%d: the error is '%s', should be '%s'\n", __FILE__, __LINE__, \
              equalux_last_error(), text);                                              \
      ++failures;                                                                       \
    }                                                                                   \
  } while (0)

enum { kFrames = 4, kMostSpecs = 3 };

/// The bytes of a described frame with tight planes.
static size_t tight_bytes(const equalux_desc* desc) {
  size_t bytes = 0;
  for (int p = 0; p < equalux_plane_count(desc); ++p)
    bytes += equalux_row_bytes(desc, p) * (size_t)equalux_plane_rows(desc, p);
  return bytes;
}

/// Planes of a frame in `memory`, whose rows have `gap` bytes between them. With `up` they are
/// stored bottom up. Returns the bytes that they take.
static size_t lay_out(const equalux_desc* desc, uint8_t* memory, size_t gap, int up,
                      equalux_planes* planes) {
  size_t at = 0;
  memset(planes, 0, sizeof *planes);
  for (int p = 0; p < equalux_plane_count(desc); ++p) {
    const size_t stride = equalux_row_bytes(desc, p) + gap;
    const size_t rows = (size_t)equalux_plane_rows(desc, p);
    planes->data[p] = memory + at + (up ? stride * (rows - 1) : 0);
    planes->stride[p] = up ? -(ptrdiff_t)stride : (ptrdiff_t)stride;
    at += stride * rows;
  }
  return at;
}

static void copy(const equalux_desc* desc, const equalux_planes* from, const equalux_planes* to) {
  for (int p = 0; p < equalux_plane_count(desc); ++p)
    for (int y = 0; y < equalux_plane_rows(desc, p); ++y)
      memcpy((uint8_t*)to->data[p] + y * to->stride[p],
             (const uint8_t*)from->data[p] + y * from->stride[p], equalux_row_bytes(desc, p));
}

/// A dim picture that moves and flickers, with noise.
static void draw(uint8_t* bytes, size_t count, int frame) {
  uint32_t seed = 2463534242U + (uint32_t)frame;
  for (size_t i = 0; i < count; ++i) {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    bytes[i] = (uint8_t)(30 + (i / 7 + (size_t)frame * 11) % 90 + seed % 9);
  }
}

static equalux_filter* make(const char* specs) {
  char words[200];
  const char* list[kMostSpecs];
  size_t count = 0;
  equalux_filter* filter = NULL;
  snprintf(words, sizeof words, "%s", specs);
  for (char* word = strtok(words, " "); word != NULL; word = strtok(NULL, " "))
    list[count++] = word;
  EXPECT(equalux_filter_create(list, count, NULL, &filter) == EQUALUX_DONE);
  return filter;
}

/// A filter's results over frames in memory of several shapes equal those of the C++ interface.
static void compare(const char* specs, const char* format, int width, int height) {
  const equalux_desc in = {format, width, height, NULL, NULL};
  const size_t bytes = tight_bytes(&in);
  uint8_t* frames = malloc(bytes * kFrames);
  uint8_t* expected = malloc(bytes * kFrames * 8);
  equalux_desc out;
  equalux_filter* filter = make(specs);
  for (int n = 0; n < kFrames; ++n)
    draw(frames + bytes * (size_t)n, bytes, n);
  const size_t result_bytes = cxx_frames(specs, format, width, height, frames, kFrames, expected);
  EXPECT(result_bytes > 0);
  EXPECT(equalux_filter_accepts(filter, format) == 1);
  EXPECT(equalux_filter_configure(filter, &in, &out) == EQUALUX_DONE);
  EXPECT(tight_bytes(&out) == result_bytes);
  uint8_t* padded_in = malloc(bytes * 20);
  uint8_t* padded_out = malloc(result_bytes * 20);
  uint8_t* tight_out = malloc(result_bytes);
  for (int n = 0; n < kFrames; ++n) {
    equalux_planes from;
    equalux_planes memory_in;
    equalux_planes memory_out;
    equalux_planes to;
    lay_out(&in, frames + bytes * (size_t)n, 0, 0, &from);
    lay_out(&in, padded_in, n % 2 ? 5 : 0, n % 3 == 1, &memory_in);
    lay_out(&out, padded_out, n % 2 ? 9 : 0, n % 3 == 2, &memory_out);
    lay_out(&out, tight_out, 0, 0, &to);
    copy(&in, &from, &memory_in);
    EXPECT(equalux_filter_frame(filter, &memory_in, &memory_out, NULL) == EQUALUX_DONE);
    copy(&out, &memory_out, &to);
    if (memcmp(tight_out, expected + result_bytes * (size_t)n, result_bytes) != 0) {
      fprintf(stderr, "%s over %s of %dx%d: frame %d differs\n", specs, format, width, height, n);
      ++failures;
    }
  }
  equalux_filter_free(filter);
  free(frames);
  free(expected);
  free(padded_in);
  free(padded_out);
  free(tight_out);
}

static void gives_the_bytes_of_cxx(void) {
  compare("equalize", "bgr", 33, 17);
  compare("equalize:temporal-ms=300,clip-limit=3", "nv12", 64, 48);
  compare("clahe:tiles=2,3", "gray8", 41, 23);
  compare("denoise equalize:strength=0.7", "i420", 48, 32);
  compare("denoise:strength=1 gaussian:sigma=1 clahe", "rgb", 32, 24);
  compare("equalize", "gray16_le", 19, 8);
  compare("eigenvalues:sigma=1.5", "gray8", 40, 30);
}

static void keeps_its_state(void) {
  const equalux_desc desc = {"bgr", 24, 16, NULL, NULL};
  const char* specs = "denoise equalize:temporal-ms=500";
  uint8_t frame[24 * 16 * 3];
  uint8_t ahead[sizeof frame];
  uint8_t again[sizeof frame];
  equalux_planes in;
  equalux_planes out;
  equalux_filter* first = make(specs);
  equalux_filter* second = make(specs);
  char* state = NULL;
  equalux_moment moment = {3, 100000000, 0, EQUALUX_PROGRESSIVE, NULL};
  lay_out(&desc, frame, 0, 0, &in);
  lay_out(&desc, ahead, 0, 0, &out);
  EXPECT_ERROR(equalux_filter_save(first, &state), EQUALUX_USAGE,
               "the filter has no frames' size and format yet");
  EXPECT(equalux_filter_configure(first, &desc, NULL) == EQUALUX_DONE);
  EXPECT(equalux_filter_configure(second, &desc, NULL) == EQUALUX_DONE);
  for (int n = 0; n < 3; ++n) {
    draw(frame, sizeof frame, n);
    EXPECT(equalux_filter_frame(first, &in, &out, NULL) == EQUALUX_DONE);
  }
  EXPECT(equalux_filter_save(first, &state) == EQUALUX_DONE);
  draw(frame, sizeof frame, 9);
  EXPECT(equalux_filter_frame(first, &in, &out, &moment) == EQUALUX_DONE);

  lay_out(&desc, again, 0, 0, &out);
  EXPECT(equalux_filter_frame(second, &in, &out, &moment) == EQUALUX_DONE);
  EXPECT(memcmp(ahead, again, sizeof again) != 0);  // Without the state it is another picture.
  EXPECT(equalux_filter_load(second, state) == EQUALUX_DONE);
  EXPECT(equalux_filter_frame(second, &in, &out, &moment) == EQUALUX_DONE);
  EXPECT(memcmp(ahead, again, sizeof again) == 0);

  EXPECT(equalux_filter_reset(second) == EQUALUX_DONE);
  EXPECT(equalux_filter_frame(second, &in, &out, NULL) == EQUALUX_DONE);
  EXPECT(memcmp(ahead, again, sizeof again) != 0);
  EXPECT_ERROR(equalux_filter_load(second, "[{}]"), EQUALUX_USAGE,
               "the filters' state is of another chain, must be of 2 filters");
  EXPECT(equalux_filter_load(second, "no JSON") == EQUALUX_USAGE);
  // A state whose second half does not fit is not taken by halves.
  equalux_text_free(state);
  EXPECT(equalux_filter_save(first, &state) == EQUALUX_DONE);
  equalux_filter* third = make("denoise gaussian:sigma=1");
  equalux_filter* fourth = make("denoise equalize:temporal-ms=500");
  char* before = NULL;
  char* other = NULL;
  char* after = NULL;
  EXPECT(equalux_filter_configure(third, &desc, NULL) == EQUALUX_DONE);
  EXPECT(equalux_filter_configure(fourth, &desc, NULL) == EQUALUX_DONE);
  EXPECT(equalux_filter_frame(third, &in, &out, NULL) == EQUALUX_DONE);
  EXPECT(equalux_filter_save(third, &other) == EQUALUX_DONE);
  EXPECT(equalux_filter_load(fourth, state) == EQUALUX_DONE);
  EXPECT(equalux_filter_save(fourth, &before) == EQUALUX_DONE);
  EXPECT(equalux_filter_load(fourth, other) == EQUALUX_USAGE);
  EXPECT(equalux_filter_save(fourth, &after) == EQUALUX_DONE);
  EXPECT(strcmp(before, after) == 0);
  equalux_text_free(before);
  equalux_text_free(other);
  equalux_text_free(after);
  equalux_filter_free(third);
  equalux_filter_free(fourth);
  equalux_text_free(state);
  equalux_filter_free(first);
  equalux_filter_free(second);
}

static void tells_what_is_wrong(void) {
  equalux_filter* filter = (equalux_filter*)1;
  const char* unknown[] = {"clahee"};
  const char* key[] = {"clahe:tile=4,4"};
  const char* lines[] = {"clahe:tile\n\x1b=4,4"};
  const char* value[] = {"equalize", "clahe:clip-limit=900"};
  const char* good[] = {"clahe"};
  const equalux_options cuda = {EQUALUX_CUDA, 0, -1};
  const equalux_options strange = {7, 0, 0};
  const equalux_options many = {EQUALUX_CPU, 5000, 0};
  equalux_desc desc = {"bgr", 0, 32, NULL, NULL};
  equalux_planes none = {{NULL, NULL, NULL}, {0, 0, 0}};
  EXPECT(strcmp(equalux_last_error(), "") == 0);
  EXPECT_ERROR(equalux_filter_create(unknown, 1, NULL, &filter), EQUALUX_USAGE,
               "filter 'clahee' is unknown, must be clahe");
  EXPECT(filter == NULL);
  EXPECT_ERROR(equalux_filter_create(key, 1, NULL, &filter), EQUALUX_USAGE,
               "clahe has no key 'tile', must be tiles");
  // One line, whatever is in the text.
  EXPECT_ERROR(equalux_filter_create(lines, 1, NULL, &filter), EQUALUX_USAGE,
               "clahe has no key 'tile\\n\\x1b', must be tiles");
  EXPECT(equalux_filter_create(value, 2, NULL, &filter) == EQUALUX_USAGE);
  EXPECT(strstr(equalux_last_error(), "clip-limit is 900, must be 1 to 255") != NULL);
  EXPECT_ERROR(equalux_filter_create(NULL, 1, NULL, &filter), EQUALUX_USAGE,
               "specs is NULL, must be given");
  EXPECT_ERROR(equalux_filter_create(NULL, 0, NULL, &filter), EQUALUX_USAGE,
               "there is no filter, must be one or more");
  EXPECT_ERROR(equalux_filter_create(good, 1, NULL, NULL), EQUALUX_USAGE,
               "filter is NULL, must be given");
  EXPECT_ERROR(equalux_filter_create(good, 1, &strange, &filter), EQUALUX_USAGE,
               "backend is 7, must be 0 to 1");
  EXPECT_ERROR(equalux_filter_create(good, 1, &many, &filter), EQUALUX_USAGE,
               "threads is 5000, must be 0 to 1024");
  // What is wrong with a spec comes before what is wrong with the machine.
  EXPECT(equalux_filter_create(key, 1, &cuda, &filter) == EQUALUX_USAGE);

  EXPECT(equalux_filter_create(good, 1, NULL, &filter) == EQUALUX_DONE);
  EXPECT(equalux_filter_frame(filter, &none, &none, NULL) == EQUALUX_USAGE);
  EXPECT(equalux_filter_configure(filter, &desc, NULL) == EQUALUX_USAGE);
  EXPECT(strstr(equalux_last_error(), "width") != NULL);
  desc.width = 32;
  desc.format = "nv21";
  EXPECT_ERROR(equalux_filter_configure(filter, &desc, NULL), EQUALUX_USAGE,
               "format is 'nv21', must be nv12");
  desc.format = "NV12";
  desc.matrix = "bt2100";
  EXPECT_ERROR(equalux_filter_configure(filter, &desc, NULL), EQUALUX_USAGE,
               "matrix is 'bt2100', must be bt601, bt709 or bt2020");
  desc.matrix = "bt601";
  EXPECT(equalux_filter_configure(filter, &desc, NULL) == EQUALUX_DONE);
  EXPECT_ERROR(equalux_filter_frame(filter, &none, &none, NULL), EQUALUX_USAGE,
               "in has no plane 0, must be 2 planes of nv12");
  EXPECT(equalux_filter_accepts(filter, "nv21") == 0);
  EXPECT(equalux_filter_accepts(NULL, "bgr") == 0);
  EXPECT(equalux_row_bytes(&desc, 2) == 0);
  EXPECT(strcmp(equalux_last_error(), "plane is 2, must be 0 to 1") == 0);
  equalux_filter_free(filter);
  equalux_filter_free(NULL);
  equalux_text_free(NULL);
}

static void refuses_frames_that_are_none(void) {
  const equalux_desc desc = {"nv12", 32, 16, NULL, NULL};
  uint8_t frame[32 * 24] = {0};
  equalux_planes in;
  equalux_planes out;
  equalux_moment moment = {0};
  equalux_filter* filter = make("equalize:temporal-ms=100");
  EXPECT(equalux_filter_configure(filter, &desc, NULL) == EQUALUX_DONE);
  lay_out(&desc, frame, 0, 0, &in);
  out = in;
  EXPECT(equalux_filter_frame(filter, &in, &out, &moment) == EQUALUX_DONE);
  out.stride[1] = 0;
  EXPECT_ERROR(equalux_filter_frame(filter, &in, &out, &moment), EQUALUX_USAGE,
               "rows of plane 1 of out are 0 bytes apart, must be 32 or more");
  out.stride[1] = -31;
  EXPECT_ERROR(equalux_filter_frame(filter, &in, &out, &moment), EQUALUX_USAGE,
               "rows of plane 1 of out are -31 bytes apart, must be 32 or more");
  moment.pts_ns = INT64_MIN;  // What FFmpeg has for none.
  EXPECT_ERROR(equalux_filter_frame(filter, &in, &in, &moment), EQUALUX_USAGE,
               "pts_ns is -9223372036854775808, must be within 4000000000000000000 of 0");
  moment.pts_ns = 0;
  moment.field_order = 3;
  EXPECT_ERROR(equalux_filter_frame(filter, &in, &in, &moment), EQUALUX_USAGE,
               "field_order is 3, must be 0 to 2");
  EXPECT_ERROR(equalux_filter_frame(filter, NULL, &in, NULL), EQUALUX_USAGE,
               "in is NULL, must be given");
  EXPECT_ERROR(equalux_filter_frame(NULL, &in, &in, NULL), EQUALUX_USAGE,
               "filter is NULL, must be given");
  moment.field_order = 0;
  EXPECT(equalux_filter_frame(filter, &in, &in, &moment) == EQUALUX_DONE);
  equalux_filter_free(filter);
}

static void is_left_as_it_was_by_a_bad_option(void) {
  const equalux_desc desc = {"gray8", 16, 16, NULL, NULL};
  uint8_t frame[16 * 16];
  uint8_t before[sizeof frame];
  uint8_t after[sizeof frame];
  equalux_planes in;
  equalux_planes out;
  equalux_filter* filter = make("equalize");
  EXPECT(equalux_filter_works_in_place(filter) == 1);
  EXPECT(equalux_filter_configure(filter, &desc, NULL) == EQUALUX_DONE);
  draw(frame, sizeof frame, 0);
  lay_out(&desc, frame, 0, 0, &in);
  lay_out(&desc, before, 0, 0, &out);
  EXPECT(equalux_filter_frame(filter, &in, &out, NULL) == EQUALUX_DONE);
  EXPECT(equalux_filter_update(filter, 0, "strength", "7") == EQUALUX_USAGE);
  EXPECT_ERROR(equalux_filter_update(filter, 1, "strength", "0"), EQUALUX_USAGE,
               "filter 1 is not there, must be 0 to 0");
  lay_out(&desc, after, 0, 0, &out);
  EXPECT(equalux_filter_frame(filter, &in, &out, NULL) == EQUALUX_DONE);
  EXPECT(memcmp(before, after, sizeof after) == 0);
  EXPECT(equalux_filter_update(filter, 0, "strength", "0") == EQUALUX_DONE);
  EXPECT(equalux_filter_frame(filter, &in, &out, NULL) == EQUALUX_DONE);
  EXPECT(memcmp(frame, after, sizeof after) == 0);
  // In place, too.
  EXPECT(equalux_filter_update(filter, 0, "strength", "1") == EQUALUX_DONE);
  EXPECT(equalux_filter_frame(filter, &in, &in, NULL) == EQUALUX_DONE);
  EXPECT(memcmp(frame, before, sizeof frame) == 0);
  equalux_filter_free(filter);
}

static void lies_in_memory_as_it_says(void) {
  const equalux_desc nv12 = {"nv12", 5, 3, NULL, NULL};
  const equalux_desc rgb48 = {"RGB48_LE", 5, 3, NULL, NULL};
  EXPECT(equalux_plane_count(&nv12) == 2);
  EXPECT(equalux_row_bytes(&nv12, 0) == 5 && equalux_plane_rows(&nv12, 0) == 3);
  EXPECT(equalux_row_bytes(&nv12, 1) == 6 && equalux_plane_rows(&nv12, 1) == 2);
  EXPECT(equalux_plane_count(&rgb48) == 1 && equalux_row_bytes(&rgb48, 0) == 30);
  EXPECT(strchr(equalux_version(), '.') != NULL);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {
      {"GivesTheBytesOfCxx", gives_the_bytes_of_cxx},
      {"KeepsItsState", keeps_its_state},
      {"TellsWhatIsWrong", tells_what_is_wrong},
      {"RefusesFramesThatAreNone", refuses_frames_that_are_none},
      {"IsLeftAsItWasByABadOption", is_left_as_it_was_by_a_bad_option},
      {"LiesInMemoryAsItSays", lies_in_memory_as_it_says},
  };
  for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; ++i) {
    if (strcmp(cases[i].name, argv[1]) != 0) continue;
    cases[i].run();
    return failures == 0 ? 0 : 1;
  }
  fprintf(stderr, "there is no such case\n");
  return 2;
}

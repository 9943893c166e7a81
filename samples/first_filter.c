// The library from C: one frame in, the same frame with its shadows readable out.
//
//   cc -std=c99 first_filter.c -lequalux -o first_filter
#include <equalux/equalux.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  static unsigned char pixels[360][640][3];
  for (int y = 0; y < 360; ++y)
    memset(pixels[y], 40 + y / 12, sizeof pixels[y]);

  const char* specs[] = {"clahe:tiles=4,4", "equalize:strength=0.5"};
  const equalux_desc desc = {"bgr", 640, 360, NULL, NULL};
  const equalux_planes frame = {{pixels}, {640 * 3}};
  equalux_filter* filter = NULL;
  if (equalux_filter_create(specs, 2, NULL, &filter) != EQUALUX_DONE ||
      equalux_filter_configure(filter, &desc, NULL) != EQUALUX_DONE ||
      equalux_filter_frame(filter, &frame, &frame, NULL) != EQUALUX_DONE) {
    fprintf(stderr, "first_filter: %s\n", equalux_last_error());
    equalux_filter_free(filter);
    return 1;
  }
  equalux_filter_free(filter);
  printf("top %d, bottom %d\n", pixels[0][0][0], pixels[359][0][0]);
  return 0;
}

// Tests the text parts of YUV4MPEG2: the stream's header, and the line before a frame.
#include "fuzz/invariant.h"
#include "pipelines/files/y4m_header.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace equalux;
  std::string_view text = fuzz::text_of(data, size);
  const std::string_view line = fuzz::take_line(text);
  StreamInfo info;
  const auto read = [&] { info = parse_y4m_header(line, "fuzz"); };
  if (!fuzz::accepted(ExitCode::bad_input, "fuzz: ", read)) return 0;
  fuzz::require(info.desc.width > 0 && info.desc.height > 0 && info.desc.width <= kMaxSide &&
                    info.desc.height <= kMaxSide &&
                    std::int64_t{info.desc.width} * info.desc.height <= kMaxPixels,
                "a size that frames may have", line);

  const std::string written = format_y4m_header(info, "fuzz");
  fuzz::require(written.ends_with('\n') && written.size() <= kY4mHeaderLimit, "a line", written);
  const StreamInfo again =
      parse_y4m_header(std::string_view(written).substr(0, written.size() - 1), "again");
  fuzz::require(again.desc == info.desc && again.frame_rate == info.frame_rate &&
                    again.pixel_aspect == info.pixel_aspect &&
                    again.field_order == info.field_order && again.chroma_site == info.chroma_site,
                "a header that is written again reads as the same", written);

  (void)fuzz::accepted(ExitCode::bad_input, "fuzz: ", [&] {
    (void)parse_y4m_frame_line(fuzz::take_line(text), info.field_order, "fuzz");
  });
  return 0;
}

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/image.h>

#include "pipelines/files/still.h"
#include "pipelines/opencv/still_check.h"

/// What stills say beside their pixels: out of the bytes of one file, into those of another. EXIF,
/// XMP, IPTC and colour profiles go through Exiv2, where the build has it; densities always. Any
/// thread may call it.
namespace equalux {

/// Fills `notes` from a whole file of any format. Sets facts.orientation, which Exiv2 finds in more
/// places; what is there and cannot be read is named in notes.unread.
[[nodiscard]] StillNotes read_notes(const std::string& path, const std::vector<std::uint8_t>& bytes,
                                    StillFacts& facts);

/// `bytes` as OpenCV has encoded an image of `desc`, with `notes` added. `format` is "PNG", "JPEG",
/// "TIFF", "WebP" or "BMP". Appends to `lost` what it cannot hold.
void add_notes(const std::string& path, std::string_view format, const ImageDesc& desc,
               const StillNotes& notes, std::vector<std::uint8_t>& bytes, std::string& lost);

}  // namespace equalux

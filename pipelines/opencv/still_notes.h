#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/image.h>

#include "pipelines/files/still.h"
#include "pipelines/opencv/still_check.h"

/// Metadata of stills: read from the bytes of one file, written into those of another. EXIF, XMP,
/// IPTC and colour profiles go through Exiv2, if the build has it; densities always work. Any
/// thread may call it.
namespace equalux {

/// Fills `notes` from a whole file of any format. Sets facts.orientation, which Exiv2 finds in more
/// places; metadata that exists and cannot be read is named in notes.unread.
[[nodiscard]] StillNotes read_notes(const std::string& path, const std::vector<std::uint8_t>& bytes,
                                    StillFacts& facts);

/// Adds `notes` to `bytes`, an image of `desc` as OpenCV has encoded it. `format` is "PNG", "JPEG",
/// "TIFF", "WebP" or "BMP". Appends to `lost` what the format cannot store.
void add_notes(const std::string& path, std::string_view format, const ImageDesc& desc,
               const StillNotes& notes, std::vector<std::uint8_t>& bytes, std::string& lost);

}  // namespace equalux

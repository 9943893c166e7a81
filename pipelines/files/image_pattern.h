#pragma once

#include <memory>
#include <string>

#include "pipelines/core/sink.h"
#include "pipelines/core/source.h"
#include "pipelines/files/image_names.h"

/// Sequences of stills as video. Input: a folder, a printf pattern or a glob; output: a printf
/// pattern.
namespace equalux {

/// Reads what list_images(text) lists, at `frame_rate` frames per second. The first image
/// determines size and format; later gray or RGB ones are converted to that colour format, another
/// size throws Error(bad_input). open() throws Error(no_input) where nothing matches.
[[nodiscard]] std::unique_ptr<Source> make_image_source(const std::string& text,
                                                        Rational frame_rate);

/// Writes each frame to `pattern` ("frames/%05d.png"), numbered from 0, through NAME.partial.EXT.
/// YCbCr frames become RGB, of 16 bits where they have more than 8, with their transparency where
/// the stills can have it. After a failed run the images that it wrote are removed. open() throws
/// Error(usage) for a pattern without a number or an unknown extension, and Error(cannot_create)
/// where the folder is missing.
[[nodiscard]] std::unique_ptr<Sink> make_image_sink(const std::string& pattern);

}  // namespace equalux

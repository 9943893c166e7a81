#pragma once

#include <functional>
#include <string>

#include "pipelines/files/scratch_folder.h"

/// Runs gnuplot for whoever draws.
namespace equalux::plot {

/// Throws Error(unavailable) where gnuplot is not installed, naming its package.
void check_gnuplot();

/// A text in gnuplot's single quotes.
[[nodiscard]] std::string gnuplot_text(const std::string& text);

/// The script that draws to `output`; data files may go into `folder`.
using GnuplotScript =
    std::function<std::string(const ScratchFolder& folder, const std::string& output)>;

/// Draws a picture through NAME.partial.EXT.
/// Throws Error(unavailable, cannot_create, write_failed).
void draw_with_gnuplot(const std::string& path, const GnuplotScript& script);

}  // namespace equalux::plot

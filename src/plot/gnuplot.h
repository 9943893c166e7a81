#pragma once

#include <functional>
#include <string>

#include "pipelines/files/scratch_folder.h"

/// Access to gnuplot.
namespace equalux::plot {

/// Throws Error(unavailable) with the package's name where gnuplot is not installed.
void check_gnuplot();

/// Puts a text in gnuplot's single quotes.
[[nodiscard]] std::string gnuplot_text(const std::string& text);

/// Returns the script that draws to `output`; it may keep data files in `folder`.
using GnuplotScript =
    std::function<std::string(const ScratchFolder& folder, const std::string& output)>;

/// Draws a picture to NAME.partial.EXT, then renames it. Throws Error(unavailable, cannot_create,
/// write_failed).
void draw_with_gnuplot(const std::string& path, const GnuplotScript& script);

}  // namespace equalux::plot

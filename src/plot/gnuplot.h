#pragma once

#include <filesystem>
#include <functional>
#include <string>

/// Runs gnuplot for whoever draws.
namespace equalux::plot {

/// Throws Error(unavailable) where gnuplot is not installed, naming its package.
void check_gnuplot();

/// A text in gnuplot's single quotes.
[[nodiscard]] std::string gnuplot_text(const std::string& text);

/// A folder that goes with its contents.
class ScratchFolder {
 public:
  /// Throws Error(cannot_create).
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// Throws Error(write_failed).
  void write(const std::string& name, const std::string& bytes) const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The script that draws to `output`; data files may go into `folder`.
using GnuplotScript =
    std::function<std::string(const ScratchFolder& folder, const std::string& output)>;

/// Draws a picture through NAME.partial.EXT.
/// Throws Error(unavailable, cannot_create, write_failed).
void draw_with_gnuplot(const std::string& path, const GnuplotScript& script);

}  // namespace equalux::plot

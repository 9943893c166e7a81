#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipelines/files/descriptor_io.h"

/// Checks of paths that several commands need.
namespace equalux::cli {

/// Throws Error(usage) where both paths name the same file, also through links or other spellings,
/// or where the output would be written as NAME.partial.EXT in the input's place.
void refuse_same_file(const std::string& input, const std::string& output);

/// A file that an option names as an output: {"--timings", "t.jsonl"}.
using NamedOutput = std::pair<std::string, std::string>;

/// Throws Error(usage) where two of the outputs are one file, also through links or other
/// spellings. "", "-" and devices are never refused.
void refuse_shared_outputs(const std::vector<NamedOutput>& outputs);

/// Set of input files, against which outputs are checked.
class InputFiles {
 public:
  InputFiles() = default;
  explicit InputFiles(const std::vector<std::string>& paths);
  /// Adds a file; a missing one is ignored, as it cannot be overwritten. `what` describes an input
  /// that is not the command's own: "the mask of --region".
  void add(const std::string& path, const std::string& what = "");
  /// Applies refuse_same_file() to all inputs. "" and "-" are never refused.
  void refuse(const std::string& output) const;
  [[nodiscard]] std::vector<std::string> paths() const;

 private:
  struct Input {
    std::string path;
    std::string what;
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, Input> files_;  // by device and inode
};

/// Outputs of many inputs, each of which must be unique.
class OutputNames {
 public:
  /// Adds an output. Throws Error(usage) where another input has it.
  void take(const std::string& output, const std::string& input);

 private:
  std::map<std::string, std::string> inputs_;  // by output
};

/// Treatment of an existing output file.
enum class Overwrite {
  ask,     ///< asks on a terminal; elsewhere as never
  always,  ///< replaces it once the new one is complete
  never,   ///< keeps it
};

/// Returns true where an output would replace a regular file, or a link without a target.
[[nodiscard]] bool is_taken(const std::string& output);

/// Throws Error(cannot_create) where `output`, a file or a pattern of numbered ones, exists and
/// must be kept. Devices, pipes and sockets may always be written to. For a pattern the first
/// `frames` names count; 0 = all.
void require_free_output(const std::string& output, Overwrite overwrite, std::uint64_t frames = 0);

/// Throws Error(cannot_create) where no regular file can be written at `path`, for files that are
/// written long after. Leaves nothing behind. "" and "-" are never refused, nor are devices and
/// pipes.
void require_creatable(const std::string& path);

/// Throws Error(no_input) where the path does not exist.
void require_input(const std::string& path);

/// Throws as require_input(), and Error(bad_input) where `path` is no file: a named pipe might
/// block for ever, and can be read only once.
void require_file(const std::string& path);

/// Waits for a reader of the named pipe `path` and returns a write end of it, to be kept open until
/// the pipe is opened properly; returns nothing if it is no pipe. Throws Error(interrupted) or
/// Error(terminated) on a signal.
[[nodiscard]] Descriptor wait_for_reader(const std::string& path);

}  // namespace equalux::cli

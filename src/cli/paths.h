#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipelines/files/descriptor_io.h"

/// Questions about paths that more than one command asks.
namespace equalux::cli {

/// Throws Error(usage) where both name the same file, also by links or other spellings, or where
/// the output would grow as NAME.partial.EXT in the input's place.
void refuse_same_file(const std::string& input, const std::string& output);

/// Many inputs, to ask of each output whether it is one of them.
class InputFiles {
 public:
  InputFiles() = default;
  explicit InputFiles(const std::vector<std::string>& paths);
  /// What is missing is no input that could be lost. `what` says what it is beside an input of the
  /// command: "the mask of --region".
  void add(const std::string& path, const std::string& what = "");
  /// Does as refuse_same_file(), against all inputs. Nothing is refused for "" and "-".
  void refuse(const std::string& output) const;
  [[nodiscard]] std::vector<std::string> paths() const;

 private:
  struct Input {
    std::string path;
    std::string what;
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, Input> files_;  // by device and inode
};

/// Outputs of many inputs, none of which may be another's.
class OutputNames {
 public:
  /// Throws Error(usage) where another input has this output.
  void take(const std::string& output, const std::string& input);

 private:
  std::map<std::string, std::string> inputs_;  // by output
};

/// What becomes of a file that is there where an output is to be.
enum class Overwrite {
  ask,     ///< on a terminal; elsewhere as never
  always,  ///< it is replaced once the new one is whole
  never,   ///< it stays
};

/// Throws Error(cannot_create) where `output`, a file or a pattern of numbered ones, is there and
/// is to stay. Devices, pipes and sockets may always be written to. Of a pattern's names the first
/// `frames` count; 0 = all.
void require_free_output(const std::string& output, Overwrite overwrite, std::uint64_t frames = 0);

/// Throws Error(no_input) where nothing is there.
void require_input(const std::string& path);

/// Throws as require_input(), and Error(bad_input) where `path` is no file: a named pipe would be
/// waited for without an end, and can be read only once.
void require_file(const std::string& path);

/// Returns once somebody reads the named pipe `path`, with an end of it that is to stay open until
/// it is opened for good; nothing for what is no pipe. Throws Error(interrupted) or
/// Error(terminated) where a signal that is caught comes first.
[[nodiscard]] Descriptor wait_for_reader(const std::string& path);

}  // namespace equalux::cli

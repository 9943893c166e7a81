#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// What is below folders, for commands that filter all of it and mirror it.
namespace equalux::cli {

enum class EntryKind : std::uint8_t {
  file,
  broken_link,  ///< leads to no file
  special,      ///< neither file nor folder: a pipe, device or socket
};

struct FolderEntry {
  std::filesystem::path path;
  EntryKind kind = EntryKind::file;
};

/// A folder, or what is behind a part of it, whose files nobody can know.
struct Unreadable {
  std::string folder;
  std::string reason;
};

struct FolderListing {
  std::vector<FolderEntry> entries;       ///< in natural order
  std::vector<std::string> folder_links;  ///< to folders, which could be without end: not followed
  std::vector<Unreadable> unreadable;
};

/// Everything below a folder, at any depth, by the folder's own spelling.
[[nodiscard]] FolderListing list_folder(const std::filesystem::path& folder);

/// True for a half-written output of an earlier run, which is no input.
[[nodiscard]] bool is_half_written(const std::filesystem::path& file);

/// True for what is in `folder`, at any depth.
[[nodiscard]] bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace equalux::cli

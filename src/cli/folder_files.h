#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// Contents of folders, for commands that filter and mirror them.
namespace equalux::cli {

enum class EntryKind : std::uint8_t {
  file,
  broken_link,  ///< link to no file
  special,      ///< neither file nor folder: a pipe, device or socket
};

struct FolderEntry {
  std::filesystem::path path;
  EntryKind kind = EntryKind::file;
};

/// Folder, or part of one, whose files cannot be listed.
struct Unreadable {
  std::string folder;
  std::string reason;
};

struct FolderListing {
  std::vector<FolderEntry> entries;  ///< in natural order
  /// Links to folders, not followed as they may form a loop.
  std::vector<std::string> folder_links;
  std::vector<Unreadable> unreadable;
};

/// Lists everything below a folder, at any depth, with the folder's own spelling.
[[nodiscard]] FolderListing list_folder(const std::filesystem::path& folder);

/// Returns true for a partial output of an earlier run, which is no input.
[[nodiscard]] bool is_half_written(const std::filesystem::path& file);

/// Returns true for a path in `folder`, at any depth.
[[nodiscard]] bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace equalux::cli

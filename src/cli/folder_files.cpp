#include "src/cli/folder_files.h"

#include <algorithm>

#include "pipelines/files/file_names.h"
#include "pipelines/files/partial_file.h"

namespace fs = std::filesystem;

namespace equalux::cli {
namespace {

/// Lister of a folder and those below it; no recursion, so that depth costs no stack.
class Lister {
 public:
  explicit Lister(const fs::path& folder) {
    for (folders_.push_back(folder); !folders_.empty();) {
      const fs::path next = std::move(folders_.back());
      folders_.pop_back();
      list(next);
    }
  }
  FolderListing found;

 private:
  void list(const fs::path& folder) {
    std::error_code failed;
    std::size_t entries = 0;
    for (fs::directory_iterator it(folder, failed), end; !failed && it != end;
         it.increment(failed), ++entries) {
      take(*it);
    }
    if (!failed) return;
    const std::string after =
        entries == 0 ? "" : " after " + std::to_string(entries) + " of its entries";
    found.unreadable.push_back({folder.string(), failed.message() + after});
  }

  void take(const fs::directory_entry& entry) {
    std::error_code ignored;
    const fs::path& path = entry.path();
    const bool link = entry.is_symlink(ignored);
    if (entry.is_directory(ignored)) {
      if (link) {
        found.folder_links.push_back(path.string());
      } else {
        folders_.push_back(path);
      }
    } else if (entry.is_regular_file(ignored)) {
      found.entries.push_back({path, EntryKind::file});
    } else {
      const bool broken = link && !entry.exists(ignored);
      found.entries.push_back({path, broken ? EntryKind::broken_link : EntryKind::special});
    }
  }

  std::vector<fs::path> folders_;
};

}  // namespace

FolderListing list_folder(const fs::path& folder) {
  FolderListing found = Lister(folder).found;
  std::sort(found.entries.begin(), found.entries.end(),
            [](const FolderEntry& a, const FolderEntry& b) {
              return natural_less(a.path.string(), b.path.string());
            });
  return found;
}

bool is_half_written(const fs::path& file) {
  return is_partial_path(file.string());
}

bool is_below(const fs::path& path, const fs::path& folder) {
  std::error_code ignored;
  const fs::path relative =
      fs::weakly_canonical(path, ignored).lexically_relative(fs::weakly_canonical(folder, ignored));
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace equalux::cli

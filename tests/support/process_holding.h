#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

/// Whether a process grows while it runs.
namespace equalux::test {

/// What a process holds at one moment.
struct Holding {
  /// Resident memory without pages of files, programs and libraries among them, which the kernel
  /// takes away and brings back as it sees fit.
  std::int64_t memory_kb = 0;
  std::int64_t descriptors = 0;
  std::int64_t threads = 0;
};

inline std::int64_t entries_in(const std::filesystem::path& folder) {
  std::error_code gone;
  std::int64_t count = 0;
  for (auto it = std::filesystem::directory_iterator(folder, gone);
       !gone && it != std::filesystem::directory_iterator(); it.increment(gone)) {
    ++count;
  }
  return count;
}

inline Holding holding_of(int process) {
  const std::filesystem::path folder = "/proc/" + std::to_string(process);
  std::int64_t memory_kb = 0;
  std::ifstream status(folder / "status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:") || line.starts_with("RssShmem:"))
      memory_kb += std::stoll(line.substr(line.find(':') + 1));
  return {memory_kb, entries_in(folder / "fd"), entries_in(folder / "task")};
}

/// Returns what was held at all times in a part of the samples, from tenth to tenth: the least of
/// each resource, which passing needs do not raise, and a leak does.
inline Holding always_held(const std::vector<Holding>& samples, std::size_t from, std::size_t to) {
  const std::size_t begin = samples.size() * from / 10;
  Holding least = samples[begin];
  for (std::size_t i = begin; i < samples.size() * to / 10; ++i) {
    least.memory_kb = std::min(least.memory_kb, samples[i].memory_kb);
    least.descriptors = std::min(least.descriptors, samples[i].descriptors);
    least.threads = std::min(least.threads, samples[i].threads);
  }
  return least;
}

/// Returns the median of each resource over a part of the samples: for what lets go now and then,
/// as a recording does that goes on in another file, whose least says nothing of the rest.
inline Holding usually_held(const std::vector<Holding>& samples, std::size_t from, std::size_t to) {
  const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() * from / 10);
  const auto end = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() * to / 10);
  const auto median = [&](std::int64_t Holding::*figure) {
    std::vector<std::int64_t> all;
    for (auto sample = begin; sample != end; ++sample)
      all.push_back((*sample).*figure);
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
  };
  return {median(&Holding::memory_kb), median(&Holding::descriptors), median(&Holding::threads)};
}

/// What was held in the middle of a run, and later on.
struct HeldOverTime {
  Holding before;
  Holding after;
};

/// The first third is warm-up: pools, plugins and the allocator's arenas. The last tenth has the
/// end of the process in it, which touches what was never used. A program that starts has not all
/// of its threads yet: those samples are left out. Nothing where there are fewer than 30. `held` is
/// what counts of a part.
inline std::optional<HeldOverTime> held_over_time(std::vector<Holding> samples,
                                                  decltype(always_held)* held = always_held) {
  if (samples.size() <= 30) return std::nullopt;
  const Holding usual = always_held(samples, 5, 9);
  const auto begun = [&](const Holding& now) { return now.threads >= usual.threads; };
  samples.erase(samples.begin(), std::find_if(samples.begin(), samples.end(), begun));
  if (samples.size() <= 30) return std::nullopt;
  return HeldOverTime{held(samples, 3, 6), held(samples, 6, 9)};
}

inline std::string text_of(const HeldOverTime& held) {
  const auto pair = [](const char* what, std::int64_t before, std::int64_t after) {
    return std::string(what) + " " + std::to_string(before) + ", then " + std::to_string(after);
  };
  return pair("memory in kB", held.before.memory_kb, held.after.memory_kb) +
         pair("; descriptors", held.before.descriptors, held.after.descriptors) +
         pair("; threads", held.before.threads, held.after.threads);
}

}  // namespace equalux::test

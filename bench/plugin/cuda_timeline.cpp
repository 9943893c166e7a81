// A library that the CUDA driver loads into any program. It writes every copy, fill and kernel of
// the process, as CUPTI recorded it on the device, into a CSV file, in the order in which they
// began.
//
//    CUDA_INJECTION64_PATH=libcuda_timeline.so CUDA_TIMELINE=FILE.csv PROGRAM...
//
// `from` and `to` of a copy are "host" or "device"; a kernel has neither and no bytes. Work of the
// video engines is not CUDA's, so decoding itself is not recorded.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cupti.h>

namespace {

constexpr std::size_t kBufferBytes = 1U << 20;

struct Entry {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t bytes = 0;
  std::uint32_t stream = 0;
  std::string_view what;
  std::string_view from;
  std::string_view to;
  std::string name;
};

/// Collects records from complete buffers, which arrive on a thread of CUPTI.
struct Timeline {
  std::mutex mutex;
  std::vector<Entry> entries;
  std::size_t dropped = 0;
};

Timeline& timeline() {
  static Timeline& it = *new Timeline;  // Never destroyed: CUPTI's thread may still call.
  return it;
}

std::string_view memory_name(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
      return "host";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY:
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC:
      return "device";
    default:
      return "unknown";
  }
}

// Record types of later CUPTI versions only grow at their ends, so the older types here can read
// them.
void add(const CUpti_Activity& record) {
  Entry entry;
  if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy5&>(record);
    entry = {copy.start,
             copy.end,
             copy.bytes,
             copy.streamId,
             "copy",
             memory_name(copy.srcKind),
             memory_name(copy.dstKind),
             {}};
  } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMSET) {
    const auto& fill = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
    entry = {fill.start, fill.end, fill.bytes, fill.streamId, "fill", "", "device", {}};
  } else if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel8&>(record);
    entry = {kernel.start, kernel.end, 0, kernel.streamId, "kernel", "", "", kernel.name};
  } else {
    return;
  }
  timeline().entries.push_back(std::move(entry));
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = new std::uint8_t[kBufferBytes];
  *size = kBufferBytes;
  *most_records = 0;
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                          std::size_t /*size*/, std::size_t valid_bytes) {
  const std::lock_guard lock(timeline().mutex);
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS)
    add(*record);
  std::size_t dropped = 0;
  if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
    timeline().dropped += dropped;
  delete[] buffer;
}

void write() {
  static_cast<void>(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  const char* named = std::getenv("CUDA_TIMELINE");
  const char* path = named != nullptr ? named : "cuda_timeline.csv";
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) {
    std::fprintf(stderr, "cuda_timeline: %s can't be written\n", path);
    return;
  }
  const std::lock_guard lock(timeline().mutex);
  std::vector<Entry>& entries = timeline().entries;
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.begin_ns < b.begin_ns; });
  const std::uint64_t zero = entries.empty() ? 0 : entries.front().begin_ns;
  std::fprintf(file, "# dropped: %zu\nbegin_us,end_us,stream,what,from,to,bytes,name\n",
               timeline().dropped);
  for (const Entry& entry : entries) {
    std::fprintf(file, "%.3f,%.3f,%u,%.*s,%.*s,%.*s,%llu,%s\n",
                 static_cast<double>(entry.begin_ns - zero) / 1e3,
                 static_cast<double>(entry.end_ns - zero) / 1e3, entry.stream,
                 static_cast<int>(entry.what.size()), entry.what.data(),
                 static_cast<int>(entry.from.size()), entry.from.data(),
                 static_cast<int>(entry.to.size()), entry.to.data(),
                 static_cast<unsigned long long>(entry.bytes), entry.name.c_str());
  }
  if (std::fclose(file) != 0) std::fprintf(stderr, "cuda_timeline: %s is not whole\n", path);
}

}  // namespace

/// Entry point that the driver calls by this name when it starts. Returns 1 to continue.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  CUptiResult result = cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
  for (const CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
                                        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}) {
    if (result == CUPTI_SUCCESS) result = cuptiActivityEnable(kind);
  }
  if (result != CUPTI_SUCCESS) {
    const char* text = nullptr;
    static_cast<void>(cuptiGetResultString(result, &text));
    std::fprintf(stderr, "cuda_timeline: CUPTI: %s\n", text != nullptr ? text : "unknown error");
    return 1;
  }
  std::atexit(write);
  return 1;
}

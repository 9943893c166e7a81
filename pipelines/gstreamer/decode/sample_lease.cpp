#include "pipelines/gstreamer/decode/sample_lease.h"

#include <utility>

#include "pipelines/gstreamer/gst_formats.h"

namespace equalux::gst {

std::shared_ptr<SampleLeases> SampleLeases::make(std::size_t expected, MapMode mode) {
  std::shared_ptr<SampleLeases> leases(new SampleLeases(mode));
  leases->free_.reserve(expected);
  for (std::size_t i = 0; i < expected; ++i) {
    leases->all_.push_back(std::make_unique<Lease>());
    leases->free_.push_back(leases->all_.back().get());
  }
  return leases;
}

SampleLeases::Lease* SampleLeases::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    all_.push_back(std::make_unique<Lease>());
    free_.reserve(all_.size());  // so that returning one never allocates
    return all_.back().get();
  }
  Lease* lease = free_.back();
  free_.pop_back();
  return lease;
}

bool SampleLeases::lend(GstBuffer* buffer, const GstVideoInfo& info, const ImageDesc& desc,
                        Frame& frame) {
  Lease* lease = take();
  const auto flags = static_cast<GstMapFlags>(GST_MAP_READ | mode_.flags);
  // The map holds a reference to the buffer.
  if (gst_video_frame_map(&lease->mapped, &info, buffer, flags) == FALSE) {
    const std::lock_guard lock(mutex_);
    free_.push_back(lease);
    return false;
  }
  if (mode_.settle != nullptr) mode_.settle(buffer);
  lease->owner = shared_from_this();
  frame.image = view_of(lease->mapped, desc);
  frame.alpha = writable_alpha_of(lease->mapped, desc);
  frame.on_device = mode_.flags != 0;
  frame.lease = lease;
  frame.release = release;
  return true;
}

void SampleLeases::release(void* opaque) {
  auto* lease = static_cast<Lease*>(opaque);
  gst_video_frame_unmap(&lease->mapped);
  const std::shared_ptr<SampleLeases> owner = std::move(lease->owner);
  const std::lock_guard lock(owner->mutex_);
  owner->free_.push_back(lease);
}

}  // namespace equalux::gst

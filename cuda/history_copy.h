#pragma once

#include <string>
#include <string_view>

#include "check.h"
#include "device_copy.h"
#include "tone_control.h"

/// A chain's history between the device and JSON text: what Filter::save() and load() do. Both wait
/// for the frames under way.
namespace equalux::cuda {

/// `on_device` holds the history of levels up to `max_value`.
inline std::string save_history(const tone::Control& control, const tone::History* on_device,
                                int max_value) {
  tone::History history;
  check(cudaDeviceSynchronize(), "waiting for the frames under way");
  check(cudaMemcpy(&history, on_device, sizeof history, cudaMemcpyDeviceToHost),
        "reading the history");
  return control.save(history, max_value);
}

/// Throws Error(usage) where the text is none of such a history.
inline void load_history(tone::Control& control, std::string_view state, tone::History* on_device,
                         int max_value) {
  const tone::History history = control.load(state, max_value);
  check(cudaDeviceSynchronize(), "waiting for the frames under way");
  upload(on_device, &history, sizeof history, "writing the history");
}

}  // namespace equalux::cuda

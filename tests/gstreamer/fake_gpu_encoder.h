#pragma once

#include <gst/gst.h>

/// An element `nvh264enc` in this process: x264 behind the pads of a GPU's encoder, which takes
/// 4:2:0 of 160 to 640 columns.
namespace equalux::test {

/// Initialises GStreamer and puts it into the registry.
void register_fake_gpu_encoder();
/// As an element of a plugin, for other programs.
bool register_fake_gpu_encoder(GstPlugin* plugin);

/// Elements that were made since the last call.
int fake_gpu_encoders_made();

/// While it is to stall, an encoder takes `frames` and no more; those that wait go on when it is
/// not.
void let_fake_gpu_encoder_stall(bool stalls, int frames = 0);

/// From here on it does not start, as where a GPU encodes as many streams as it can.
void let_fake_gpu_encoder_fail(bool fails);

}  // namespace equalux::test

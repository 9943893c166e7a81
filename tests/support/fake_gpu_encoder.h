#pragma once

/// An element `nvh264enc` in this process: x264 behind the pads of a GPU's encoder, which takes 4:2:0
/// of 160 to 640 columns.
namespace equalux::test {

/// Puts it into the registry; GStreamer is initialised then.
void register_fake_gpu_encoder();

/// Elements that were made since the last call.
int fake_gpu_encoders_made();

/// From here on it does not start, as where a GPU encodes as many streams as it can.
void let_fake_gpu_encoder_fail(bool fails);

}  // namespace equalux::test

#pragma once

#include <glib-object.h>

/// The element `equaluxconvolve`: convolution with a small kernel.
GType gst_equalux_convolve_get_type();

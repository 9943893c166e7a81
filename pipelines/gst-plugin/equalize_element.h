#pragma once

#include <glib-object.h>

/// The element `equalux`: histogram equalization of the value channel.
GType gst_equalux_get_type();

#include "src/cpu/hessian/vessel_rows.h"
#include "src/hessian/vessel_math.h"

namespace equalux {
namespace {

void add_ridge(float sign, const float* second, std::size_t n, float* best) {
  for (std::size_t i = 0; i < n; ++i) {
    const float strength = ridge_strength(sign, second[i]);
    if (strength > best[i]) best[i] = strength;
  }
}

void add_frangi(float sign, const float* first, const float* second, const float* gain,
                std::size_t n, float* best) {
  for (std::size_t i = 0; i < n; ++i) {
    const float measure = frangi_measure(sign, {first[i], second[i]}, gain[i]);
    if (measure > best[i]) best[i] = measure;
  }
}

void contrast_gains(const float* light, std::size_t n, float* gain) {
  for (std::size_t i = 0; i < n; ++i)
    gain[i] = contrast_gain(light[i]);
}

void scale(const float* gain, std::size_t n, float* measure) {
  for (std::size_t i = 0; i < n; ++i)
    measure[i] = measure[i] * gain[i];
}

void keep_within(float sign, const float* light, const float* own_level, std::size_t n,
                 float* measure) {
  for (std::size_t i = 0; i < n; ++i)
    measure[i] = within_line(sign, light[i], own_level[i], measure[i]);
}

void classify(const float* measure, float low, float high, std::size_t n, std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = vessel_class(measure[i], low, high);
}

void heat(const float* measure, float full, std::size_t n, std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = heat_level(measure[i], full);
}

void shapes(const float* first, const float* second, float threshold, float line_ratio,
            float blob_ratio, std::size_t n, std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = shape_class({first[i], second[i]}, threshold, line_ratio, blob_ratio);
}

}  // namespace

const VesselRows& scalar_vessel_rows() {
  static const VesselRows loops{"scalar",    add_ridge, add_frangi, contrast_gains, scale,
                                keep_within, classify,  heat,       shapes};
  return loops;
}

}  // namespace equalux

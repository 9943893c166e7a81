#include "tune.h"

#include <array>

#include "paint.h"

namespace clip {
namespace {

// Equal temperament from A = 440 Hz, written out so that no library's pow() decides a sample.
constexpr float kA2 = 110.000F, kBb2 = 116.541F, kC3 = 130.813F, kD3 = 146.832F, kF3 = 174.614F,
                kG3 = 195.998F, kA3 = 220.000F, kC4 = 261.626F, kD4 = 293.665F, kE4 = 329.628F,
                kF4 = 349.228F, kG4 = 391.995F, kA4 = 440.000F, kC5 = 523.251F, kD5 = 587.330F,
                kE5 = 659.255F, kF5 = 698.456F, kG5 = 783.991F, kA5 = 880.000F;

struct Chord {
  float start, end;
  std::array<float, 4> hertz;
};

constexpr std::array<Chord, 4> kChords{{
    {-1.0F, 2.4F, {kD3, kA3, kF4, kE4}},
    {2.2F, 4.7F, {kBb2, kF3, kD4, kA4}},
    {4.5F, 6.9F, {kF3, kC4, kA4, kG4}},
    {6.6F, 9.6F, {kA2, kG3, kC4, kE4}},
}};

struct Note {
  float start, hertz, loudness;
};

constexpr std::array<Note, 19> kNotes{{
    {0.30F, kA4, 0.7F}, {0.75F, kD5, 0.9F}, {1.20F, kF5, 0.8F}, {1.65F, kE5, 0.7F},
    {2.10F, kC5, 0.6F}, {2.55F, kD5, 0.9F}, {3.00F, kA5, 0.7F}, {3.45F, kG5, 0.7F},
    {3.90F, kF5, 0.6F}, {4.35F, kD5, 0.6F}, {4.80F, kC5, 0.9F}, {5.25F, kF5, 0.8F},
    {5.70F, kA5, 0.8F}, {6.15F, kG5, 0.6F}, {6.60F, kE5, 0.8F}, {7.05F, kC5, 0.7F},
    {7.50F, kD5, 0.6F}, {7.95F, kE5, 0.5F}, {8.30F, kA4, 0.6F},
}};

struct Stereo {
  float left = 0, right = 0;
};

float pad(float t) {
  float sum = 0;
  for (const Chord& chord : kChords) {
    if (t < chord.start || t > chord.end) continue;
    const float swell =
        smoothstep(chord.start, chord.start + 0.9F, t) * smoothstep(chord.end, chord.end - 0.7F, t);
    for (const float hertz : chord.hertz) {
      const float beat = 0.8F + 0.2F * sine(0.21F * t + hertz * 0.013F);
      sum +=
          swell * beat *
          (sine(hertz * t) + 0.35F * sine(2.003F * hertz * t) + 0.12F * sine(2.996F * hertz * t));
    }
  }
  return 0.045F * sum;
}

// A kalimba: a sine that dies slowly under an overtone that dies fast.
class Plucked {
 public:
  explicit Plucked(const Note& note) : note_(note) {}

  float next(float t) {
    const float age = t - note_.start;
    if (age < 0) return 0;
    body_ *= 0.999955F;
    click_ *= 0.99955F;
    const float attack = saturate(age * 250);
    return 0.16F * note_.loudness * attack *
           (body_ * sine(note_.hertz * age) + 0.3F * click_ * sine(5.4F * note_.hertz * age) +
            0.15F * body_ * body_ * sine(2 * note_.hertz * age));
  }

 private:
  Note note_;
  float body_ = 1;
  float click_ = 1;
};

// Waves against the quay: noise behind a low-pass filter that opens and closes.
class Waves {
 public:
  explicit Waves(int seed) : seed_(seed) {}

  float next(int sample, float t) {
    const float white = 2 * random_at(sample, 0, seed_) - 1;
    const float surge = noise(t * 0.9F, 0.5F, seed_ + 1);
    const float open = 0.02F + 0.07F * surge * surge;
    first_ += open * (white - first_);
    second_ += open * (first_ - second_);
    return (0.10F + 0.45F * surge * surge) * second_;
  }

 private:
  int seed_;
  float first_ = 0;
  float second_ = 0;
};

// Two crossed delays, so that the notes ring on across the water.
class Echo {
 public:
  Stereo next(Stereo dry) {
    float& left = left_[at_ % left_.size()];
    float& right = right_[at_ % right_.size()];
    ++at_;
    const Stereo wet{dry.left + 0.45F * left, dry.right + 0.45F * right};
    damp_.left += 0.35F * (right - damp_.left);
    damp_.right += 0.35F * (left - damp_.right);
    left = dry.left + 0.52F * damp_.left;
    right = dry.right + 0.52F * damp_.right;
    return wet;
  }

 private:
  std::vector<float> left_ = std::vector<float>(14831);
  std::vector<float> right_ = std::vector<float>(19553);
  std::size_t at_ = 0;
  Stereo damp_;
};

// Below the surface the high notes are gone; two poles, so that the change is heard.
class Muffle {
 public:
  Stereo next(Stereo in, float dived) {
    const float open = mix(1.0F, 0.055F, dived);
    once_ = step(once_, in, open);
    twice_ = step(twice_, once_, open);
    const float louder = mix(1.0F, 1.5F, dived);
    return {louder * twice_.left, louder * twice_.right};
  }

 private:
  static Stereo step(Stereo state, Stereo in, float open) {
    return {state.left + open * (in.left - state.left),
            state.right + open * (in.right - state.right)};
  }

  Stereo once_;
  Stereo twice_;
};

// A bubble is a short sine that rises in pitch.
float bubbles(float t, float dive_at) {
  float sum = 0;
  for (int i = 0; i < 22; ++i) {
    const float start = dive_at + 0.15F + 3.1F * random_at(i, 301);
    const float age = t - start;
    const float lasts = 0.05F + 0.07F * random_at(i, 302);
    if (age < 0 || age > lasts) continue;
    const float hertz = 320 + 500 * random_at(i, 303);
    const float shape = age / lasts * (1 - age / lasts) * 4;
    sum += shape * sine(hertz * age * (1 + 2.5F * age));
  }
  return 0.035F * sum;
}

std::int16_t to_pcm(float x) {
  // Bends before it would clip.
  const float soft = x / (1 + 0.25F * std::fabs(x));
  return static_cast<std::int16_t>(std::floor(std::clamp(soft, -1.0F, 1.0F) * 32000 + 0.5F));
}

}  // namespace

std::vector<std::int16_t> play_tune(float seconds, float dive_at) {
  std::vector<Plucked> notes(kNotes.begin(), kNotes.end());
  Waves waves_left(401);
  Waves waves_right(411);
  Echo echo;
  Muffle muffle;
  const int count = static_cast<int>(seconds * kSampleRate);
  std::vector<std::int16_t> pcm;
  pcm.reserve(static_cast<std::size_t>(count) * 2);
  for (int i = 0; i < count; ++i) {
    const float t = static_cast<float>(i) / kSampleRate;
    Stereo dry;
    for (std::size_t n = 0; n < notes.size(); ++n) {
      const float tone = notes[n].next(t);
      const float place = 0.5F + 0.3F * sine(0.29F * static_cast<float>(n));
      dry.left += tone * (1 - place);
      dry.right += tone * place;
    }
    const float chord = pad(t);
    Stereo mixed = echo.next(dry);
    mixed.left += chord + waves_left.next(i, t);
    mixed.right += chord + waves_right.next(i, t);
    mixed = muffle.next(mixed, smoothstep(dive_at - 0.04F, dive_at + 0.04F, t));
    const float drops = bubbles(t, dive_at);
    const float fade = saturate(t * 4) * saturate((seconds - t) / 0.9F);
    pcm.push_back(to_pcm(fade * 1.6F * (mixed.left + drops)));
    pcm.push_back(to_pcm(fade * 1.6F * (mixed.right + 0.8F * drops)));
  }
  return pcm;
}

}  // namespace clip

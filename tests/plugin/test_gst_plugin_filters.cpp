#include <utility>

#include <equalux/clahe.h>
#include <equalux/hessian.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gst_elements.h"

/// Elements of all filters: their properties are the filters' options, and their bytes those of
/// --filter with the same options.
namespace equalux::test {
namespace {

using gst::BufferPtr;
using ::testing::HasSubstr;

std::string element_of(const FilterInfo& filter) {
  return "equalux" + (filter.name == "equalize" ? "" : std::string(filter.name));
}

/// A launch line's properties of a spec's options.
std::string launch_of(const std::string& element, const OptionValues& values) {
  std::string line = element + " backend=cpu";
  for (const auto& [key, value] : values)
    line += " " + key + "=" + value;
  return line;
}

void set(const Harness& harness, const std::string& property, const char* value) {
  gst_util_set_object_arg(G_OBJECT(harness.equalux()), property.c_str(), value);
}

std::vector<std::uint8_t> pushed(Harness& harness, BufferPtr buffer, const Stream& out) {
  EXPECT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  const BufferPtr result = harness.pull();
  if (result == nullptr) {
    ADD_FAILURE() << "no frame came out";
    return {};
  }
  return samples_of(result.get(), out);
}

/// What a filter that is configured makes of the next frame of a stream.
std::vector<std::uint8_t> next_of(GstBuffer* buffer, const Stream& stream, Filter& filter,
                                  const ImageDesc& out_desc) {
  const std::vector<std::uint8_t> samples = samples_of(buffer, stream);
  Image image(stream.desc);
  auto from = samples.begin();
  for (int p = 0; p < traits(stream.desc.format).planes; ++p) {
    for (int y = 0; y < plane_rows(stream.desc, p); ++y) {
      const auto bytes = static_cast<std::ptrdiff_t>(row_bytes(stream.desc, p));
      std::copy(from, from + bytes, image.view().row(p, y));
      from += bytes;
    }
  }
  Image result(out_desc);
  FrameContext context;
  context.pts_ns = static_cast<std::int64_t>(GST_BUFFER_PTS(buffer));
  filter.submit(std::as_const(image).view(), result.view(), context);
  return tight_copy(result.view());
}

/// Frames of one element beside those of the core's filter of the same options.
void expect_filtered(const std::string& filter, const OptionValues& values, PixelFormat format,
                     int frames) {
  const Stream stream = stream_of(format, 163, 92);
  const FilterSpec spec{filter, values};
  SCOPED_TRACE(spec.text() + " " + std::string(to_string(format)));
  Harness harness(launch_of("equalux" + filter, values));
  harness.set_caps(stream);
  const auto core = make_cpu_filter(spec, {}, {1});
  const ImageDesc out_desc = core->configure(stream.desc);
  const Stream out = stream_of(out_desc.format, 163, 92);
  for (int i = 0; i < frames; ++i) {
    BufferPtr buffer = picture(stream, static_cast<std::uint32_t>(i));
    const auto expected = next_of(buffer.get(), stream, *core, out_desc);
    ASSERT_EQ(pushed(harness, std::move(buffer), out), expected) << i;
  }
}

TEST(GstPluginFilters, ThePluginsLicenseIsOneThatGStreamerKnows) {
  load_plugin();
  GstPlugin* const plugin = gst_registry_find_plugin(gst_registry_get(), "equalux");
  ASSERT_NE(plugin, nullptr);
  EXPECT_STREQ(gst_plugin_get_license(plugin), "Apache 2.0");
  gst_object_unref(plugin);
}

TEST(GstPluginFilters, EveryEffectIsAnElementAndEveryOptionAProperty) {
  load_plugin();
  int elements = 0;
  for (const FilterInfo& filter : filter_list()) {
    SCOPED_TRACE(filter.name);
    GstElementFactory* factory = gst_element_factory_find(element_of(filter).c_str());
    ASSERT_EQ(factory != nullptr, !filter.title.empty());
    if (factory == nullptr) continue;
    ++elements;
    EXPECT_EQ(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_LONGNAME),
              filter.title);
    const gst::ElementPtr element(
        GST_ELEMENT(gst_object_ref_sink(gst_element_factory_create(factory, nullptr))));
    gst_object_unref(factory);
    for (const Option& option : filter.options) {
      SCOPED_TRACE(option.key);
      GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()),
                                                      std::string(option.key).c_str());
      ASSERT_NE(spec, nullptr);
      EXPECT_EQ(g_param_spec_get_nick(spec), option.title);
      EXPECT_STRNE(g_param_spec_get_blurb(spec), "");
      EXPECT_NE(spec->flags & GST_PARAM_MUTABLE_PLAYING, 0U);
      const bool is_text = option.type == OptionType::text || option.type == OptionType::file;
      EXPECT_EQ((spec->flags & GST_PARAM_CONTROLLABLE) != 0, !is_text && !option.decides_format);
      if (option.type == OptionType::number) {
        const auto* number = G_PARAM_SPEC_DOUBLE(spec);
        EXPECT_EQ(number->maximum, option.most);
        EXPECT_LE(number->minimum, option.least);
      } else if (option.type == OptionType::name) {
        EXPECT_EQ(G_PARAM_SPEC_ENUM(spec)->enum_class->n_values,
                  option.names.size() + (option.unset.empty() ? 0 : 1));
      }
    }
  }
  EXPECT_EQ(elements, 6);
}

TEST(GstPluginFilters, ClaheHasTheBytesOfTheFilter) {
  const std::vector<OptionValues> cases{
      {},
      {{"tiles", "5,3"}, {"clip-limit", "4.5"}},
      {{"tiles", "4"}, {"strength", "0.6"}, {"scaler", "min-max"}},
      {{"temporal-ms", "700"}, {"floor", "1"}, {"ceiling", "99"}, {"max-gain", "6"}}};
  for (const PixelFormat format :
       {PixelFormat::nv12, PixelFormat::yuy2, PixelFormat::gray8, PixelFormat::bgra,
        PixelFormat::rgb, PixelFormat::p010_10le, PixelFormat::gray16_le}) {
    for (const OptionValues& values : cases)
      expect_filtered("clahe", values, format, 4);
  }
}

TEST(GstPluginFilters, ClaheChangesWhileItRunsAndKeepsItsHistory) {
  const Stream stream = stream_of(PixelFormat::i420, 160, 96);
  Harness harness("equaluxclahe backend=cpu temporal-ms=900 tiles=4,4");
  harness.set_caps(stream);
  const auto core =
      make_cpu_filter(FilterSpec{"clahe", {{"temporal-ms", "900"}, {"tiles", "4,4"}}}, {}, {1});
  core->configure(stream.desc);
  const auto same = [&](std::uint32_t n) {
    BufferPtr buffer = picture(stream, n);
    const auto expected = next_of(buffer.get(), stream, *core, stream.desc);
    EXPECT_EQ(pushed(harness, std::move(buffer), stream), expected) << n;
  };
  for (std::uint32_t n = 0; n < 5; ++n)
    same(n);
  set(harness, "strength", "0.3");
  set(harness, "clip-limit", "6");
  ASSERT_TRUE(core->update({{"strength", "0.3"}, {"clip-limit", "6"}}));
  for (std::uint32_t n = 5; n < 9; ++n)
    same(n);
  // What does not go together is told, and the parameters before go on.
  set(harness, "tiles", "0,4");
  same(9);
  EXPECT_THAT(harness.message(GST_MESSAGE_WARNING), HasSubstr("tiles is 0,4, must be 1 to 16"));
}

TEST(GstPluginFilters, AnotherFrameRateOrPixelShapeKeepsTheHistory) {
  for (const FilterSpec& spec :
       {FilterSpec{"equalize", {{"temporal-ms", "900"}}},
        FilterSpec{"clahe", {{"temporal-ms", "900"}}}, FilterSpec{"denoise", {}}}) {
    SCOPED_TRACE(spec.text());
    const Stream stream = stream_of(PixelFormat::i420, 160, 96);
    Harness harness(
        launch_of(spec.name == "equalize" ? "equalux" : "equalux" + spec.name, spec.options));
    const auto core = make_cpu_filter(spec, {}, {1});
    core->configure(stream.desc);
    std::uint32_t n = 0;
    const auto three_more = [&](const char* caps) {
      Stream now = stream_of(PixelFormat::i420, 160, 96);
      now.caps.reset(gst_caps_make_writable(now.caps.release()));
      gst_structure_remove_field(gst_caps_get_structure(now.caps.get(), 0), "framerate");
      const std::string fields =
          "video/x-raw," + std::string(caps) + ",framerate=" + (n == 3 ? "50/1" : "25/1");
      const gst::CapsPtr more(gst_caps_from_string(fields.c_str()));
      now.caps.reset(gst_caps_intersect(now.caps.get(), more.get()));
      harness.set_caps(now);
      for (const std::uint32_t end = n + 3; n < end; ++n) {
        BufferPtr buffer = picture(stream, n);
        const auto expected = next_of(buffer.get(), stream, *core, stream.desc);
        EXPECT_EQ(pushed(harness, std::move(buffer), stream), expected) << n << " " << fields;
      }
    };
    three_more("pixel-aspect-ratio=1/1");
    three_more("pixel-aspect-ratio=1/1");
    three_more("pixel-aspect-ratio=4/3");
    // Frames of another kind begin anew.
    core->reset();
    three_more("pixel-aspect-ratio=4/3,interlace-mode=mixed");
  }
}

/// A word of an option has a number in properties.
TEST(GstPluginFilters, SaturationIsAutomaticAtMinusOne) {
  const Stream stream = stream_of(PixelFormat::nv12, 160, 96);
  Harness harness("equalux backend=cpu floor=2 saturation=-1 saturation-max=3");
  harness.set_caps(stream);
  const auto core = make_cpu_filter(
      FilterSpec{"equalize", {{"floor", "2"}, {"saturation", "auto"}, {"saturation-max", "3"}}}, {},
      {1});
  core->configure(stream.desc);
  const auto same = [&](std::uint32_t n) {
    BufferPtr buffer = picture(stream, n);
    const auto expected = next_of(buffer.get(), stream, *core, stream.desc);
    EXPECT_EQ(pushed(harness, std::move(buffer), stream), expected) << n;
  };
  same(0);
  set(harness, "saturation", "-0.5");
  same(1);
  EXPECT_THAT(harness.message(GST_MESSAGE_WARNING),
              HasSubstr("saturation is -0.5, must be 0 to 4, or auto"));
  set(harness, "saturation-max", "2.5");
  set(harness, "saturation", "1.5");
  ASSERT_TRUE(core->update({{"saturation-max", "2.5"}, {"saturation", "1.5"}}));
  same(2);
}

TEST(GstPluginFilters, DenoiseHasTheBytesOfTheFilter) {
  for (const PixelFormat format :
       {PixelFormat::nv12, PixelFormat::i420_10le, PixelFormat::gray8, PixelFormat::bgrx}) {
    expect_filtered("denoise", {}, format, 4);
    expect_filtered("denoise", {{"strength", "0.5"}, {"temporal", "3"}, {"noise", "2.5"}}, format,
                    4);
  }
}

TEST(GstPluginFilters, ShapesHaveTheBytesOfTheFilter) {
  for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::bgr, PixelFormat::gray8}) {
    expect_filtered("shapes", {{"threshold", "2"}}, format, 2);
    expect_filtered("shapes", {{"output", "classes"}, {"sigma", "2"}, {"line-ratio", "0.5"}},
                    format, 2);
  }
}

TEST(GstPluginFilters, WeightsReplaceTheKernelAsLongAsTheyAreSet) {
  const Stream stream = stream_of(PixelFormat::gray8, 64, 48);
  Harness harness("equaluxconvolve backend=cpu kernel=sharpen");
  harness.set_caps(stream);
  const auto result = [&] { return pushed(harness, picture(stream, 3), stream); };
  const auto of_spec = [&](const OptionValues& values) {
    const auto core = make_cpu_filter(FilterSpec{"convolve", values}, {}, {1});
    const BufferPtr buffer = picture(stream, 3);
    return filtered(buffer.get(), stream, *core);
  };
  const auto sharpened = result();
  EXPECT_EQ(sharpened, of_spec({{"kernel", "sharpen"}}));
  set(harness, "weights", "0,1,0,1,-3,1,0,1,0");
  EXPECT_EQ(result(), of_spec({{"weights", "0,1,0,1,-3,1,0,1,0"}}));
  g_object_set(harness.equalux(), "weights", nullptr, nullptr);
  EXPECT_EQ(result(), sharpened);
}

TEST(GstPluginFilters, PropertiesAreReadAsTheyWereSet) {
  for (const FilterInfo& filter : filter_list()) {
    if (filter.title.empty()) continue;
    Harness harness(element_of(filter) + " backend=cpu");
    for (const Option& option : filter.options) {
      SCOPED_TRACE(std::string(filter.name) + ":" + std::string(option.key));
      const bool is_number = option.type == OptionType::number || option.type == OptionType::whole;
      const std::string value = is_number ? std::to_string(static_cast<int>(option.most))
                                : option.names.empty() ? "5"
                                                       : std::string(option.names.back().name);
      set(harness, std::string(option.key), value.c_str());
      GValue read = G_VALUE_INIT;
      g_object_get_property(G_OBJECT(harness.equalux()), std::string(option.key).c_str(), &read);
      if (G_VALUE_HOLDS_ENUM(&read)) {
        const auto* klass = G_ENUM_CLASS(g_type_class_peek(G_VALUE_TYPE(&read)));
        EXPECT_STREQ(
            g_enum_get_value(const_cast<GEnumClass*>(klass), g_value_get_enum(&read))->value_nick,
            value.c_str());
      } else {
        const gst::StringPtr text(gst_value_serialize(&read));
        EXPECT_THAT(std::string(text.get()), HasSubstr(value));
      }
      g_value_unset(&read);
    }
  }
}

}  // namespace
}  // namespace equalux::test

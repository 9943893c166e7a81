// Prints what scene collections of OBS hold of the plugin's filters, a line each, for
// compatibility.py: the filters' ids, and the names of their settings with their kinds.
#include <cstdio>

#include <equalux/filter.h>

#include "pipelines/obs/settings.h"
#include "pipelines/obs/sources.h"

namespace {

const char* kind_of(obs_property_t* property) {
  switch (obs_property_get_type(property)) {
    case OBS_PROPERTY_BOOL:
      return "switch";
    case OBS_PROPERTY_INT:
      return "whole number";
    case OBS_PROPERTY_FLOAT:
      return "number";
    case OBS_PROPERTY_TEXT:
      return "text";
    case OBS_PROPERTY_PATH:
      return "file";
    case OBS_PROPERTY_LIST:
      return "one of a list";
    default:
      return "other";
  }
}

void print(const char* id, obs_properties_t* all) {
  for (obs_property_t* each = obs_properties_first(all); each != nullptr;
       obs_property_next(&each)) {
    if (obs_property_get_type(each) == OBS_PROPERTY_GROUP) {
      print(id, obs_property_group_content(each));
    } else {
      std::printf("%s %s %s\n", id, obs_property_name(each), kind_of(each));
    }
  }
}

}  // namespace

int main() {
  for (const equalux::obs::Kind& kind : equalux::obs::kinds()) {
    std::printf("%s\n", kind.id);
    for (const equalux::FilterInfo& filter : equalux::filter_list()) {
      if (filter.name != kind.filter) continue;
      obs_properties_t* all = equalux::obs::make_properties(filter);
      print(kind.id, all);
      obs_properties_destroy(all);
    }
  }
}

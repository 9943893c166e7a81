#pragma once

#include <span>
#include <string>

#include <equalux/params.h>
#include <glib-object.h>
#include <gst/gst.h>

/// Properties: what all of our elements have, and what theirs are made with.
namespace equalux::gst {

/// Properties that may change while the stream runs, by an application or a control source.
inline constexpr auto kLive =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                             GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE);
/// The same, for types that control sources do not know.
inline constexpr auto kLiveText = static_cast<GParamFlags>(
    G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
/// Properties that are taken when the stream starts.
inline constexpr auto kReady =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
inline constexpr auto kReadOnly =
    static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

/// First number that a subclass may give to a property of its own.
inline constexpr guint kFirstOwnProperty = 100;

/// Holds an object's lock.
class ObjectLock {
 public:
  explicit ObjectLock(gpointer object) : object_(GST_OBJECT_CAST(object)) {
    GST_OBJECT_LOCK(object_);
  }
  ~ObjectLock() { GST_OBJECT_UNLOCK(object_); }
  ObjectLock(const ObjectLock&) = delete;
  ObjectLock& operator=(const ObjectLock&) = delete;

 private:
  GstObject* object_;
};

/// Registers an enumeration whose nicks are the options' spellings and whose values are the
/// enumerators' numbers. `descriptions` has one text for each. With `automatic`, "auto" is 0 and
/// each enumerator's number is one higher.
[[nodiscard]] GType register_enum(const char* type_name, const std::vector<std::string_view>& nicks,
                                  std::span<const char* const> descriptions,
                                  bool automatic = false);

/// Texts, where null stands for `otherwise`, and an empty one is told as null.
[[nodiscard]] std::string text_from(const GValue* value, const char* otherwise = "");
void set_text(GValue* value, const std::string& text);

/// Sets the methods through which properties are set and read, the elements' own too. For each
/// class before it installs any: GObject lets none inherit them.
void take_properties(GObjectClass* klass);
/// Methods and properties of the base class.
void install_filter_properties(GObjectClass* klass);

}  // namespace equalux::gst

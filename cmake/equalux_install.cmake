# Program and its modules, library, headers, CMake package and pkg-config file; the lab is a part of its own.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME equalux)

install(TARGETS equalux EXPORT equalux_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS equalux_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS equalux_lab_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT lab)
get_property(modules GLOBAL PROPERTY EQUALUX_MODULE_TARGETS)
if(modules)
  install(TARGETS ${modules} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/equalux)
endif()
if(EQUALUX_HAVE_GSTREAMER)
  install(TARGETS gstequalux LIBRARY DESTINATION ${EQUALUX_GST_PLUGIN_DIR})
endif()
if(EQUALUX_HAVE_FREI0R)
  get_property(effects GLOBAL PROPERTY EQUALUX_FREI0R_TARGETS)
  # Where FFmpeg and MLT look, on multiarch systems too.
  install(TARGETS ${effects} LIBRARY DESTINATION lib/frei0r-1)
endif()
if(EQUALUX_HAVE_OBS)
  install(TARGETS equalux_obs LIBRARY DESTINATION ${EQUALUX_OBS_PLUGIN_DIR} COMPONENT obs)
  # The plugin's folder of data has no more than its licence.
  install(FILES pipelines/obs/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/obs/obs-plugins/equalux
    COMPONENT obs)
  install(FILES samples/obs/equalux.json DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/obs-equalux/examples
    COMPONENT obs)
endif()
install(DIRECTORY include/equalux DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/equalux/configs)
get_property(manual GLOBAL PROPERTY EQUALUX_MANUAL)
if(manual)
  install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING
    PATTERN "*.1" PATTERN equalux-lab.1 EXCLUDE)
  install(FILES ${manual}/equalux-lab.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT lab)
  install(FILES ${manual}/equalux.bash RENAME equalux
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${manual}/equalux.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  # Debian's zsh reads other folders under /usr than under /usr/local; packages take another prefix than
  # the one that is known here.
  set(zsh "\${CMAKE_INSTALL_PREFIX}")
  cmake_path(APPEND zsh "${CMAKE_INSTALL_DATADIR}" zsh)
  install(CODE "
    set(folder site-functions)
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
      set(folder vendor-completions)
    endif()
    file(INSTALL \"${manual}/_equalux\" DESTINATION \"${zsh}/\${folder}\")")
endif()
# For a desktop: an entry that opens the page on the first camera.
if(EQUALUX_HAVE_HTTP)
  # A version that is out has its date in the list of changes.
  file(STRINGS CHANGELOG.md released REGEX "^## \\[${PROJECT_VERSION}\\] - [0-9-]+$")
  set(EQUALUX_RELEASES "")
  if(released MATCHES "([0-9-]+)$")
    set(EQUALUX_RELEASES
      "  <releases>\n    <release version=\"${PROJECT_VERSION}\" date=\"${CMAKE_MATCH_1}\"/>\n  </releases>\n")
  endif()
  set(EQUALUX_DESKTOP ${CMAKE_BINARY_DIR}/desktop)
  set(EQUALUX_CAMERA ${CMAKE_INSTALL_FULL_LIBEXECDIR}/equalux/camera)
  configure_file(src/cli/desktop/equalux.desktop.in ${EQUALUX_DESKTOP}/equalux.desktop @ONLY)
  configure_file(src/cli/desktop/metainfo.xml.in ${EQUALUX_DESKTOP}/example.equalux.equalux.metainfo.xml @ONLY)
  install(PROGRAMS src/cli/desktop/camera DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/equalux)
  install(FILES ${EQUALUX_DESKTOP}/equalux.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
  # The entry has the full path of what it starts, under the prefix that is installed to; but CPack installs to a
  # folder of its own, and nobody knows where its packages are unpacked.
  foreach(dir DATADIR LIBEXECDIR)
    set(installed_${dir} "\${CMAKE_INSTALL_PREFIX}")
    cmake_path(APPEND installed_${dir} "${CMAKE_INSTALL_${dir}}")
  endforeach()
  install(CODE "
    set(entry \"\$ENV{DESTDIR}${installed_DATADIR}/applications/equalux.desktop\")
    set(camera \"${installed_LIBEXECDIR}/equalux/camera\")
    set(configured \"${EQUALUX_CAMERA}\")")
  install(CODE [==[
    if(CMAKE_INSTALL_PREFIX MATCHES "/_CPack_Packages/")
      set(camera "${configured}")
    endif()
    cmake_path(ABSOLUTE_PATH camera NORMALIZE)
    # As an argument in quotes, and that as a string of such files.
    if(camera MATCHES "[^A-Za-z0-9/._+-]")
      string(REGEX REPLACE [[(["`$\])]] [[\\\1]] camera "${camera}")
      string(REPLACE [[\]] [[\\]] camera "\"${camera}\"")
      string(REPLACE % %% camera "${camera}")
    endif()
    if(NOT camera STREQUAL configured)
      file(READ "${entry}" text)
      string(REPLACE "Exec=${configured}\n" "Exec=${camera}\n" text "${text}")
      file(WRITE "${entry}" "${text}")
    endif()]==])
  install(FILES ${EQUALUX_DESKTOP}/example.equalux.equalux.metainfo.xml
    DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
  install(FILES src/cli/desktop/equalux.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
endif()
if(EQUALUX_HAVE_PIPEWIRE)
  install(FILES samples/systemd/equalux-camera.service DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
endif()
install(FILES README.md LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

install(EXPORT equalux_targets NAMESPACE equalux:: FILE equalux-targets.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/equalux)
configure_package_config_file(cmake/equalux-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/equalux-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/equalux)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/equalux-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/equalux-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/equalux-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/equalux)

# From the .pc file to the prefix, so that a package may be unpacked anywhere; but some distributions name their
# folders by full paths.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(EQUALUX_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH EQUALUX_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(PREPEND EQUALUX_PC_PREFIX "\${pcfiledir}/")
endif()
foreach(dir LIBDIR INCLUDEDIR)
  set(EQUALUX_PC_${dir} "\${prefix}")
  cmake_path(APPEND EQUALUX_PC_${dir} "${CMAKE_INSTALL_${dir}}")
endforeach()
configure_file(cmake/equalux.pc.in ${CMAKE_CURRENT_BINARY_DIR}/equalux.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/equalux.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

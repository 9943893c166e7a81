# `cpack` in a build tree makes equalux_VERSION_ARCH.deb: program and its modules, GStreamer
# plugin, library, headers, CMake package; and equalux-lab_VERSION_ARCH.deb, the program behind
# `equalux lab`.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME equalux)
set(CPACK_PACKAGE_VENDOR "equalux")
set(CPACK_PACKAGE_CONTACT "The equalux maintainers <maintainers@equalux.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_COMPONENT_EQUALUX_DESCRIPTION
"equalux makes low-contrast video readable in real time. It equalizes the
value channel of HSV, exactly and without converting YUV frames to RGB, for
video files, cameras, images and GStreamer pipelines. Sound, subtitles,
chapters and timestamps of a file are kept. The package holds the program,
the GStreamer element and the C++ library with its headers.")
set(CPACK_COMPONENT_LAB_DESCRIPTION
"equalux lab repeats the experiments of the reports that equalux is made
of: tables, sweeps and plots, on any image and GPU.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
# A package belongs to the system, wherever a plain `cmake --install` would put things.
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)

set(CPACK_COMPONENTS_ALL equalux lab)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_EQUALUX_PACKAGE_NAME equalux)
set(CPACK_DEBIAN_LAB_PACKAGE_NAME equalux-lab)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION video)
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "${PROJECT_HOMEPAGE_URL}")
# What the binaries link; the plugins and gnuplot are found at run time, so dpkg cannot see them.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_EQUALUX_PACKAGE_RECOMMENDS
  "gstreamer1.0-plugins-base, gstreamer1.0-plugins-good, gstreamer1.0-plugins-bad, gstreamer1.0-plugins-ugly, gstreamer1.0-libav, gstreamer1.0-rtsp, gnuplot-nox | gnuplot")
set(CPACK_DEBIAN_LAB_PACKAGE_DEPENDS "equalux (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_LAB_PACKAGE_RECOMMENDS "gnuplot-nox | gnuplot")

include(CPack)

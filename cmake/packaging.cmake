# `cpack` in a build tree makes equalux-VERSION-Linux.tar.gz, to be unpacked anywhere, for systems without
# packages of their own. Debian's are made by scripts/package, out of debian/.
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME equalux)
set(CPACK_PACKAGE_VENDOR "equalux")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
include(CPack)

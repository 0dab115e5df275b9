# CPack's Debian package: the library, its headers, the CMake package and the command. `cpack -G DEB` in a
# build folder configured with PALMETTE_SHARED=ON and the prefix /usr (tools/package.sh).
set(CPACK_PACKAGE_NAME palmette)
set(CPACK_PACKAGE_CONTACT "The authors of Palmette <palmette@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Sparse direct solver: every answer verified and measured")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)

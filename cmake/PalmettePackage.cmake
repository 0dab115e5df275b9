# CPack's Debian package: command, library, headers and CMake package. tools/package.sh makes it, of a build
# with PALMETTE_SHARED=ON and the prefix /usr.
set(CPACK_PACKAGE_NAME palmette)
set(CPACK_PACKAGE_CONTACT "the Palmette developers <palmette@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Sparse direct solver: every answer verified and measured")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
include(CPack)

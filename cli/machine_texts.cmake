# The files of data/machines as one C++ array of names and texts.
file(GLOB machine_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/data/machines/*.json)
set(machine_texts
    "namespace palmette::cli {\nextern const char* const shipped_machines[];\n")
string(APPEND machine_texts "const char* const shipped_machines[] = {\n")
foreach(machine_file ${machine_files})
  get_filename_component(machine_name ${machine_file} NAME_WE)
  file(READ ${machine_file} machine_text)
  string(APPEND machine_texts "    \"${machine_name}\", R\"machine(${machine_text})machine\",\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${machine_file})
endforeach()
string(APPEND machine_texts "    nullptr};\n}  // namespace palmette::cli\n")
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/machine_texts.cpp CONTENT "@machine_texts@" @ONLY)

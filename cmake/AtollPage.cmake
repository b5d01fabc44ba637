# The report's page: the files of src/cli/trace/page, embedded in the launcher as text.
function(atoll_embed_page target)
    set(_folder "${PROJECT_SOURCE_DIR}/src/cli/trace/page")
    set(_scripts "")
    foreach(_file page.html page.css ui.js matrix.js tables.js time_line.js charts.js page.js)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_folder}/${_file}")
        file(READ "${_folder}/${_file}" _content)
        if(_file MATCHES "[.]js$")
            string(APPEND _scripts "${_content}")
        else()
            string(REGEX REPLACE "^.*[.]" "" _kind "${_file}")
            set(_${_kind} "${_content}")
        endif()
    endforeach()
    set(_text "// Written by cmake/AtollPage.cmake.\n#include \"cli/trace/page/page.hpp\"\n\nnamespace atl::cli {\n")
    string(APPEND _text "const std::string_view page_template = R\"page(${_html})page\";\n"
                        "const std::string_view page_style = R\"page(${_css})page\";\n"
                        "const std::string_view page_script = R\"page(${_scripts})page\";\n}  // namespace atl::cli\n")
    set(_source "${PROJECT_BINARY_DIR}/generated/page_files.cpp")
    file(CONFIGURE OUTPUT "${_source}" CONTENT "${_text}" @ONLY)   # changes the file only if the text has changed
    set_source_files_properties("${_source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)   # it changes with each file
    target_sources(${target} PRIVATE "${_source}")
endfunction()

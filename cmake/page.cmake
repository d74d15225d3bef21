# Compiles the sources of the page of `superstep html` into the program. Its script is one function of all these files, in this order:
# what they declare is theirs alone.
set(page_scripts data format pen chart table state totals
    summary timeline details flame operations workers heatmap tilemap memory scatter roofline prediction compare insights provenance search follow app)
set(page_folder ${CMAKE_SOURCE_DIR}/report/page)
set(script "(() => {\n\"use strict\";\n")
foreach(name IN LISTS page_scripts)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_folder}/${name}.js)
  file(READ ${page_folder}/${name}.js text)
  string(APPEND script "${text}")
endforeach()
string(APPEND script "})();\n")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_folder}/page.html ${page_folder}/page.css)
file(READ ${page_folder}/page.html body)
file(READ ${page_folder}/page.css style)
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/generated/page_sources.cpp CONTENT
"#include \"report/page/page_sources.h\"

namespace superstep {

PageSources page_sources() {
  return {.body = R\"PAGE(${body})PAGE\", .style = R\"PAGE(${style})PAGE\", .script = R\"PAGE(${script})PAGE\"};
}

}  // namespace superstep
")
target_sources(superstep_report PRIVATE ${CMAKE_BINARY_DIR}/generated/page_sources.cpp)

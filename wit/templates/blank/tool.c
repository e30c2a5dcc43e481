/* The tool. capabilities.json lists what it may reach: nothing yet. */
#include <stdio.h>

#include "postern/json.h"
#include "postern/postern.h"

const char *tool_description(void) {
  return "Repeats a text. The model decides by this sentence when to call the tool.";
}

/* The schema of params. The model reads it, and the host checks params against it before `tool_execute`. */
const char *tool_schema(void) {
  return "{\"type\":\"object\","
         "\"properties\":{\"text\":{\"type\":\"string\",\"description\":\"The text to repeat\"}},"
         "\"required\":[\"text\"],\"additionalProperties\":false}";
}

tool_response tool_execute(const char *params) {
  tool_response response = {NULL, NULL};
  char *text = json_text(json_get(json_parse(params), "text"));
  char *output;
  if (text == NULL)
    response.error = "Give 'text'.";
  else if (asprintf(&output, "{\"text\":%s}", json_quote(text)) >= 0)
    response.output = output;
  return response;
}

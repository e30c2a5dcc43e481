/* The tool. The host adds the token that capabilities.json names to each request; this code never sees it. */
#include <stdio.h>
#include <stdlib.h>

#include "postern/json.h"
#include "postern/postern.h"

const char *tool_description(void) {
  return "Lists the user's own GitHub repositories, the most recently pushed first.";
}

/* The schema of params. The model reads it, and the host checks params against it before `tool_execute`. */
const char *tool_schema(void) {
  return "{\"type\":\"object\",\"properties\":{\"count\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":20,"
         "\"description\":\"How many to list; 5 unless given\"}},\"additionalProperties\":false}";
}

static const char *HEADERS = "{\"Accept\":\"application/vnd.github+json\",\"User-Agent\":\"my-tool\"}";

static char *summarize(json repositories) {
  char *summary;
  size_t size;
  FILE *out = open_memstream(&summary, &size);
  if (out == NULL) abort();
  json one;
  fputc('[', out);
  for (size_t at = 0; (one = json_at(repositories, at)).start != NULL; at++) {
    char *name = json_quote(json_text(json_get(one, "full_name")));
    char *url = json_quote(json_text(json_get(one, "html_url")));
    char *pushed = json_quote(json_text(json_get(one, "pushed_at")));
    fprintf(out, "%s{\"name\":%s,\"url\":%s,\"pushed\":%s}", at == 0 ? "" : ",", name, url, pushed);
  }
  fputc(']', out);
  fclose(out);
  return summary;
}

tool_response tool_execute(const char *params) {
  json given = json_parse(params);
  if (given.start == NULL) return (tool_response){.error = "The params are not JSON."};
  char url[100], *sentence;
  int count = (int)json_number(json_get(given, "count"), 5);
  snprintf(url, sizeof url, "https://api.github.com/user/repos?sort=pushed&per_page=%d", count);
  postern_http_response response = postern_http_request("GET", url, HEADERS, NULL, 0);
  if (response.error != NULL) return (tool_response){.error = response.error};
  if (response.status == 200) return (tool_response){.output = summarize(json_parse(response.body))};
  if (response.status == 401)
    return (tool_response){.error = "GitHub does not accept the token; the operator can set another one."};
  if (asprintf(&sentence, "GitHub returned %d: %.200s", response.status, response.body) < 0) abort();
  return (tool_response){.error = sentence};
}

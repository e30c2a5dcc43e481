/* The canonical ABI of the component model: how the values of postern.h are passed in memory. */
#include "postern.h"

#include <stdlib.h>
#include <string.h>

#define IMPORT(interface, name) \
  __attribute__((import_module("postern:tool/" interface "@0.1.0"), import_name(name)))
#define EXPORT(name) __attribute__((export_name(name)))

typedef struct {
  char *start;
  size_t length;
} list;

typedef struct {
  uint8_t is_some;
  list text;
} optional;

typedef struct {
  uint8_t is_error;
  union {
    struct {
      uint16_t status;
      list body;
    } answer;
    list error;
  } payload;
} http_reply;

typedef struct {
  uint8_t is_error;
  union {
    optional value;
    list error;
  } payload;
} value_reply;

/* Of a write, where only an error has a list, and of a list of keys. */
typedef struct {
  uint8_t is_error;
  list list;
} list_reply;

IMPORT("host", "log") void host_log(int32_t level, const char *message, size_t message_length);
IMPORT("host", "http-request")
void host_http_request(
    const char *method, size_t method_length, const char *url, size_t url_length, const char *headers_json,
    size_t headers_json_length, int32_t has_body, const uint8_t *body, size_t body_length, int32_t has_timeout,
    uint32_t timeout_ms, http_reply *reply);
IMPORT("host", "secret-exists") int32_t host_secret_exists(const char *name, size_t name_length);
IMPORT("setting", "setting") void host_setting(const char *name, size_t name_length, optional *value);
IMPORT("state", "get") void host_state_get(const char *key, size_t key_length, value_reply *reply);
IMPORT("state", "set")
void host_state_set(
    const char *key, size_t key_length, const uint8_t *value, size_t value_length, list_reply *reply);
IMPORT("state", "delete") void host_state_delete(const char *key, size_t key_length, list_reply *reply);
IMPORT("state", "list-keys")
void host_state_list_keys(const char *prefix, size_t prefix_length, list_reply *reply);

static void *allocate(void *old, size_t size) {
  void *start = realloc(old, size);
  if (start == NULL) __builtin_trap();
  return start;
}

EXPORT("cabi_realloc") void *cabi_realloc(void *old, size_t old_size, size_t align, size_t size) {
  if (size == 0) return (void *)align;
  return allocate(old_size == 0 ? NULL : old, size);
}

/* Takes over what the host wrote to memory from `cabi_realloc`, with a NUL behind it. */
static char *text_of(list text) {
  char *start = allocate(text.length == 0 ? NULL : text.start, text.length + 1);
  start[text.length] = '\0';
  return start;
}

static list list_of(const char *text) {
  list made = {(char *)text, strlen(text)};
  return made;
}

static optional optional_of(const char *text) {
  optional made = {text != NULL, {NULL, 0}};
  if (text != NULL) made.text = list_of(text);
  return made;
}

void postern_log(postern_level level, const char *message) { host_log(level, message, strlen(message)); }

postern_http_response postern_http_request(
    const char *method, const char *url, const char *headers_json, const postern_bytes *body, uint32_t timeout_ms) {
  http_reply reply;
  postern_http_response response = {NULL, 0, 0, NULL};
  host_http_request(
      method, strlen(method), url, strlen(url), headers_json, strlen(headers_json), body != NULL,
      body == NULL ? NULL : body->start, body == NULL ? 0 : body->length, timeout_ms != 0, timeout_ms, &reply);
  if (reply.is_error) {
    response.error = text_of(reply.payload.error);
    return response;
  }
  response.status = reply.payload.answer.status;
  response.length = reply.payload.answer.body.length;
  response.body = text_of(reply.payload.answer.body);
  return response;
}

bool postern_secret_exists(const char *name) { return host_secret_exists(name, strlen(name)) != 0; }

const char *postern_setting(const char *name) {
  optional value;
  host_setting(name, strlen(name), &value);
  return value.is_some ? text_of(value.text) : NULL;
}

const char *postern_state_get(const char *key, postern_bytes *value) {
  value_reply reply;
  host_state_get(key, strlen(key), &reply);
  value->start = NULL;
  value->length = 0;
  if (reply.is_error) return text_of(reply.payload.error);
  if (!reply.payload.value.is_some) return NULL;
  value->length = reply.payload.value.text.length;
  value->start = (const uint8_t *)text_of(reply.payload.value.text);
  return NULL;
}

const char *postern_state_set(const char *key, postern_bytes value) {
  list_reply reply;
  host_state_set(key, strlen(key), value.start, value.length, &reply);
  return reply.is_error ? text_of(reply.list) : NULL;
}

const char *postern_state_delete(const char *key) {
  list_reply reply;
  host_state_delete(key, strlen(key), &reply);
  return reply.is_error ? text_of(reply.list) : NULL;
}

const char *postern_state_list_keys(const char *prefix, const char ***keys, size_t *count) {
  list_reply reply;
  host_state_list_keys(prefix, strlen(prefix), &reply);
  *keys = NULL;
  *count = 0;
  if (reply.is_error) return text_of(reply.list);
  *count = reply.list.length;
  *keys = allocate(NULL, (*count + 1) * sizeof(char *));
  for (size_t at = 0; at < *count; at++) (*keys)[at] = text_of(((list *)reply.list.start)[at]);
  return NULL;
}

/* A result that does not fit into a number is returned by its address. */

EXPORT("postern:tool/tool@0.1.0#description") const list *export_description(void) {
  static list result;
  result = list_of(tool_description());
  return &result;
}

EXPORT("postern:tool/tool@0.1.0#schema") const list *export_schema(void) {
  static list result;
  result = list_of(tool_schema());
  return &result;
}

typedef struct {
  optional output;
  optional error;
} response;

EXPORT("postern:tool/tool@0.1.0#execute") const response *export_execute(char *params, size_t length) {
  static response result;
  list given = {params, length};
  tool_response made = tool_execute(text_of(given));
  result.output = optional_of(made.output);
  result.error = optional_of(made.error);
  return &result;
}

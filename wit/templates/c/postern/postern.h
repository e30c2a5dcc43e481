/*
 * wit/tool.wit in C: the first three functions are what a tool provides, the rest is what Postern provides. This folder
 * comes with Postern, like wit/. Do not edit it.
 *
 * Texts end in NUL, as is usual in C. Memory need not be freed: it is reset after each call.
 */
#ifndef POSTERN_H
#define POSTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exactly one of the two is set. */
typedef struct {
  /* JSON: the result. */
  const char *output;
  /* A sentence the model can act on. */
  const char *error;
} tool_response;

/* What the tool is for, written for the model that decides whether to call it. */
const char *tool_description(void);

/* The JSON Schema of `params`. */
const char *tool_schema(void);

/* Runs the tool. `params` is JSON, already checked against the schema. */
tool_response tool_execute(const char *params);

typedef enum {
  POSTERN_TRACE,
  POSTERN_DEBUG,
  POSTERN_INFO,
  POSTERN_WARN,
  POSTERN_ERROR,
} postern_level;

typedef struct {
  const uint8_t *start;
  size_t length;
} postern_bytes;

typedef struct {
  /* A sentence that says what was refused or what failed; NULL where there is a response. */
  const char *error;
  uint16_t status;
  size_t length;
  /* One more byte follows, a NUL, so that a text can be read as it is. */
  const char *body;
} postern_http_response;

/* Adds a line to the call's receipt. At most 1000 lines of 4 KiB per call; the rest is dropped and counted. */
void postern_log(postern_level level, const char *message);

/*
 * Sends one request and waits for the response. Only https, and only what `http.allowlist` allows; redirects are errors,
 * unless `http.redirects` says that they are followed. `headers_json` is a JSON object of header names to values, "{}" for
 * none. `body` may be NULL. 0 as `timeout_ms` leaves the time to the capabilities file. Postern adds credentials after this
 * call: a tool never sees a secret.
 */
postern_http_response postern_http_request(
    const char *method, const char *url, const char *headers_json, const postern_bytes *body, uint32_t timeout_ms);

/* True if the secret is set. Always false for names that are not in `secrets.allowed_names`. */
bool postern_secret_exists(const char *name);

/* The value of a setting that the capabilities file declares, or its default; NULL where there is neither. */
const char *postern_setting(const char *name);

/*
 * What the tool remembers for the user of the call, where the capabilities file says `state`. What a call writes is kept
 * when it returns output. Each returns NULL, or a sentence that says what was refused.
 */

/* `value->start` is NULL where the key has no value. */
const char *postern_state_get(const char *key, postern_bytes *value);

const char *postern_state_set(const char *key, postern_bytes value);

const char *postern_state_delete(const char *key);

/* All keys that start so, sorted; "" for all. */
const char *postern_state_list_keys(const char *prefix, const char ***keys, size_t *count);

#endif

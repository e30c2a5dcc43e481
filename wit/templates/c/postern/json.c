/* Values are found in the text where they stand; nothing is built beside it. */
#include "json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Deeper ones would need more stack than a tool has. */
#define MAX_DEPTH 200

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r\n"); }

static bool is_hex(const char *at) { return strspn(at, "0123456789abcdefABCDEF") >= 4; }

/* Each of these returns what follows, or NULL where there is no such thing. */

static const char *skip_string(const char *at) {
  if (*at++ != '"') return NULL;
  for (; *at != '"'; at++) {
    if ((unsigned char)*at < 0x20) return NULL;
    if (*at != '\\') continue;
    at++;
    if (*at == '\0' || strchr("\"\\/bfnrtu", *at) == NULL) return NULL;
    if (*at == 'u' && !is_hex(at + 1)) return NULL;
  }
  return at + 1;
}

static const char *skip_number(const char *at) {
  const char *digits = "0123456789";
  if (*at == '-') at++;
  size_t whole = strspn(at, digits);
  if (whole == 0 || (whole > 1 && *at == '0')) return NULL;
  at += whole;
  if (*at == '.') {
    size_t fraction = strspn(++at, digits);
    if (fraction == 0) return NULL;
    at += fraction;
  }
  if (*at != 'e' && *at != 'E') return at;
  at++;
  if (*at == '+' || *at == '-') at++;
  size_t exponent = strspn(at, digits);
  return exponent == 0 ? NULL : at + exponent;
}

static const char *skip_word(const char *at, const char *word) {
  size_t length = strlen(word);
  return strncmp(at, word, length) == 0 ? at + length : NULL;
}

static const char *skip_value(const char *at, int depth);

/* The next member or item: `name` and `value` are where they start. What follows is behind the comma, or at the end. */
static const char *skip_entry(const char *at, bool is_named, int depth, const char **name, const char **value) {
  at = *name = skip_blanks(at);
  if (is_named) {
    at = skip_string(at);
    if (at == NULL) return NULL;
    at = skip_blanks(at);
    if (*at++ != ':') return NULL;
    at = skip_blanks(at);
  }
  *value = at;
  at = skip_value(at, depth);
  return at == NULL ? NULL : skip_blanks(at);
}

static const char *skip_entries(const char *at, char end, int depth) {
  const char *name, *value;
  at = skip_blanks(at + 1);
  if (*at == end) return at + 1;
  while ((at = skip_entry(at, end == '}', depth, &name, &value)) != NULL) {
    if (*at == end) return at + 1;
    if (*at++ != ',') return NULL;
  }
  return NULL;
}

static const char *skip_value(const char *at, int depth) {
  if (depth > MAX_DEPTH) return NULL;
  switch (*at) {
    case '{':
      return skip_entries(at, '}', depth + 1);
    case '[':
      return skip_entries(at, ']', depth + 1);
    case '"':
      return skip_string(at);
    case 't':
      return skip_word(at, "true");
    case 'f':
      return skip_word(at, "false");
    case 'n':
      return skip_word(at, "null");
    default:
      return skip_number(at);
  }
}

static json none(void) {
  json made = {NULL, 0};
  return made;
}

json json_parse(const char *text) {
  const char *start = skip_blanks(text);
  const char *end = skip_value(start, 0);
  if (end == NULL || *skip_blanks(end) != '\0') return none();
  json made = {start, (size_t)(end - start)};
  return made;
}

static char *text_at(const char *start) {
  json value = {start, (size_t)(skip_string(start) - start)};
  return json_text(value);
}

/* The one with that name, or, where it is NULL, with that index. */
static json find(json inside, char kind, const char *wanted, size_t index) {
  if (inside.start == NULL || *inside.start != kind) return none();
  const char *end = inside.start + inside.length - 1;
  const char *at = skip_blanks(inside.start + 1);
  const char *name, *value;
  while (at < end) {
    const char *next = skip_entry(at, wanted != NULL, 0, &name, &value);
    bool is_it = wanted == NULL ? index-- == 0 : strcmp(text_at(name), wanted) == 0;
    if (is_it) {
      json made = {value, (size_t)(skip_value(value, 0) - value)};
      return made;
    }
    at = next + 1;
  }
  return none();
}

json json_get(json object, const char *name) { return find(object, '{', name, 0); }

json json_at(json array, size_t index) { return find(array, '[', NULL, index); }

static uint32_t hex_at(const char *at) {
  char digits[5] = {at[0], at[1], at[2], at[3], '\0'};
  return (uint32_t)strtoul(digits, NULL, 16);
}

static char *put_utf8(char *out, uint32_t code) {
  if (code < 0x80) {
    *out++ = (char)code;
    return out;
  }
  int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static const uint32_t lead[] = {0, 0xC0, 0xE0, 0xF0};
  *out++ = (char)(lead[more] | (code >> (6 * more)));
  while (more-- > 0) *out++ = (char)(0x80 | ((code >> (6 * more)) & 0x3F));
  return out;
}

char *json_text(json value) {
  if (value.start == NULL || *value.start != '"') return NULL;
  char *text = malloc(value.length);
  if (text == NULL) abort();
  char *out = text;
  for (const char *at = value.start + 1; *at != '"'; at++) {
    if (*at != '\\') {
      *out++ = *at;
      continue;
    }
    static const char *names = "bfnrt", *codes = "\b\f\n\r\t";
    const char *name = strchr(names, *++at);
    if (*at != 'u') {
      *out++ = name == NULL ? *at : codes[name - names];
      continue;
    }
    uint32_t code = hex_at(at + 1);
    at += 4;
    bool is_pair = code >= 0xD800 && code < 0xDC00 && at[1] == '\\' && at[2] == 'u' && hex_at(at + 3) >= 0xDC00 &&
                   hex_at(at + 3) < 0xE000;
    if (is_pair) {
      code = 0x10000 + ((code - 0xD800) << 10) + (hex_at(at + 3) - 0xDC00);
      at += 6;
    }
    /* Half of a pair is no character, and NUL would end the text. */
    out = put_utf8(out, code == 0 || (code >= 0xD800 && code < 0xE000) ? 0xFFFD : code);
  }
  *out = '\0';
  return text;
}

double json_number(json value, double otherwise) {
  bool is_number = value.start != NULL && skip_number(value.start) == value.start + value.length;
  return is_number ? strtod(value.start, NULL) : otherwise;
}

char *json_quote(const char *text) {
  if (text == NULL) return strdup("null");
  char *quoted = malloc(6 * strlen(text) + 3);
  if (quoted == NULL) abort();
  char *out = quoted;
  *out++ = '"';
  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\') *out++ = '\\';
    if ((unsigned char)*text < 0x20)
      out += sprintf(out, "\\u%04x", *text);
    else
      *out++ = *text;
  }
  *out++ = '"';
  *out = '\0';
  return quoted;
}

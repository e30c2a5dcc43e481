/*
 * The JSON that a small tool needs. For more, put a library such as cJSON beside tool.c: every .c file of the project is
 * compiled.
 */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>

/* A value in a text of JSON; `start` is NULL where there is none. */
typedef struct {
  const char *start;
  size_t length;
} json;

/* The whole text; none where it is not JSON. */
json json_parse(const char *text);

/* The member of an object; none where it is no object, or has none of that name. */
json json_get(json object, const char *name);

/* The item of an array, from 0; none where it is no array, or is shorter. */
json json_at(json array, size_t index);

/* The text of a string; NULL where it is none. */
char *json_text(json value);

/* The number; `otherwise` where it is none. */
double json_number(json value, double otherwise);

/* The text as JSON: quoted and escaped. "null" for NULL. */
char *json_quote(const char *text);

#endif

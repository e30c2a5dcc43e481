/* The tool. capabilities.json lists what it may reach; the host checks every request against it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "postern/json.h"
#include "postern/postern.h"

const char *tool_description(void) {
  return "Counts the days until a date, or until the next public holiday of a country.";
}

/* The schema of params. The model reads it, and the host checks params against it before `tool_execute`. */
const char *tool_schema(void) {
  return "{\"type\":\"object\",\"properties\":{"
         "\"date\":{\"type\":\"string\",\"format\":\"date\","
         "\"description\":\"The day to count to, such as 2030-01-31\"},"
         "\"country\":{\"type\":\"string\",\"pattern\":\"^[A-Z]{2}$\",\"description\":"
         "\"Instead of a date: count to the next public holiday of this country, such as DE\"}},"
         "\"additionalProperties\":false}";
}

static char *format(const char *template, ...) {
  char *text;
  va_list values;
  va_start(values, template);
  if (vasprintf(&text, template, values) < 0) abort();
  va_end(values);
  return text;
}

static tool_response output(char *json) { return (tool_response){.output = json}; }

static tool_response error(const char *sentence) { return (tool_response){.error = sentence}; }

/* Days since 1970-01-01 in the Gregorian calendar. */
static long day_number(long year, long month, long day) {
  if (month <= 2) year--;
  long era = year / 400, of_era = year % 400;
  long of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool days_until(const char *date, long *days) {
  long year, month, day;
  if (date == NULL || sscanf(date, "%4ld-%2ld-%2ld", &year, &month, &day) != 3) return false;
  *days = day_number(year, month, day) - (long)(time(NULL) / 86400);
  return true;
}

static tool_response count_to_holiday(const char *country) {
  char *url = format("https://date.nager.at/api/v3/NextPublicHolidays/%s", country);
  postern_log(POSTERN_INFO, format("fetching the public holidays of %s", country));
  postern_http_response response = postern_http_request("GET", url, "{}", NULL, 0);
  if (response.error != NULL) return error(response.error);
  if (response.status != 200) return error(format("date.nager.at returned %d: %.200s", response.status, response.body));
  json next = json_at(json_parse(response.body), 0);
  char *date = json_text(json_get(next, "date"));
  char *name = json_text(json_get(next, "name"));
  long days;
  if (!days_until(date, &days)) return error(format("No public holidays found for %s.", country));
  return output(format("{\"date\":%s,\"name\":%s,\"days\":%ld}", json_quote(date), json_quote(name), days));
}

tool_response tool_execute(const char *params) {
  json given = json_parse(params);
  char *date = json_text(json_get(given, "date"));
  char *country = json_text(json_get(given, "country"));
  long days;
  if (date == NULL && country == NULL) return error("Give 'date' or 'country'.");
  if (date == NULL) return count_to_holiday(country);
  if (!days_until(date, &days)) return error(format("%s is not a date.", date));
  return output(format("{\"date\":%s,\"days\":%ld}", json_quote(date), days));
}

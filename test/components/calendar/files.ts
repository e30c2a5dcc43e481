/** Files as calendar servers have them. */

const ZONE = [
  ...["BEGIN:VTIMEZONE", "TZID:Europe/Berlin", "BEGIN:DAYLIGHT", "TZOFFSETFROM:+0100", "TZOFFSETTO:+0200"],
  ...["DTSTART:19700329T020000", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3", "END:DAYLIGHT", "BEGIN:STANDARD"],
  ...["TZOFFSETFROM:+0200", "TZOFFSETTO:+0100", "DTSTART:19701025T030000"],
  ...["RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10", "END:STANDARD", "END:VTIMEZONE"],
];

export const calendarFile = (...lines: readonly string[]): string =>
  [
    ...["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN", ...ZONE, "BEGIN:VEVENT", "UID:one"],
    ...["DTSTAMP:20261001T000000Z", ...lines, "END:VEVENT", "END:VCALENDAR", ""],
  ].join("\r\n");

/** Weekly, across the end of summer time, with much that nothing of ours knows. */
export const STANDUP = calendarFile(
  "DTSTART;TZID=Europe/Berlin:20261001T090000",
  "DTEND;TZID=Europe/Berlin:20261001T093000",
  "RRULE:FREQ=WEEKLY",
  "SUMMARY:Stand-up",
  'X-ODD;A="b:c;d":kept as\\, it is',
  "X-FOLDED:begins here",
  "  and goes on here",
  "BEGIN:VALARM",
  "ACTION:DISPLAY",
  "TRIGGER:-PT5M",
  "END:VALARM",
);

/** What the calendar does with answers of servers that are not as they should be. */
import { expect, test } from "vitest";
import { type Answer, openDav } from "../../../components/calendar/dav.ts";

const MIB = 2 ** 20;
const principal = (href: string) =>
  `<multistatus xmlns="DAV:"><response><href>/</href><propstat><prop><current-user-principal><href>${href}</href></current-user-principal></prop><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>`;

function davThat(answers: (method: string) => Partial<Answer>) {
  const asked: string[] = [];
  const dav = openDav("https://dav.test/x/", (method, url) => {
    asked.push(`${method} ${url}`);
    return { status: 200, headers: {}, body: "", ...answers(method) };
  });
  return { dav, asked };
}

test.each([
  ["PROPFIND", ({ calendars }) => calendars()],
  ["REPORT", ({ events }) => events({ url: "https://dav.test/x/", name: "x" }, "a", "b")],
  ["REPORT", ({ contacts }) => contacts({ url: "https://dav.test/x/", name: "x" }, "ann", 10)],
  ["GET", ({ read }) => read("/x/1.ics")],
] as [string, (dav: ReturnType<typeof openDav>) => unknown][])(
  "an answer to %s of more than 4 MiB is refused unread, and one of 4 MiB is read",
  (method, work) => {
    const answerOf = (length: number) => () => {
      const { dav, asked } = davThat(() => ({
        status: method === "GET" ? 200 : 207,
        body: "x".repeat(length),
      }));
      const run = () => work(dav);
      return { run, asked };
    };
    const { run, asked } = answerOf(4 * MIB + 1)();
    expect(run).toThrow("The server's answer is larger than 4 MiB. Ask for fewer days.");
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain(method);
    const { run: runFitting } = answerOf(4 * MIB)();
    if (method === "GET") expect(runFitting()).toMatchObject({ id: "/x/1.ics" });
    else expect(runFitting).toThrow("The server's answer is not valid CalDAV XML.");
  },
);

test.each([
  "https://evil.test/ann/",
  "//evil.test/ann/",
  "https://dav.test.evil.test/",
  "http://dav.test/ann/",
  "/ann/ https://evil.test/",
])("the server cannot send the calendar to %s", (href) => {
  const { dav, asked } = davThat(() => ({ status: 207, body: principal(href) }));
  expect(dav.calendars).toThrow("is not a path on the server.");
  expect(asked).toEqual(["PROPFIND https://dav.test/x/"]);
});

test.each([
  [401, "The server refused that (401). Check the user name and the password."],
  [404, "There is no such event or calendar on the server (404)."],
  [301, "The server answered PROPFIND with status 301."],
  [500, "The server answered PROPFIND with status 500."],
])("status %i ends the search for calendars", (status, why) => {
  const { dav, asked } = davThat(() => ({ status }));
  expect(dav.calendars).toThrow(why);
  expect(asked).toHaveLength(1);
});

/** The built component in the real host, with a real calendar server, as two people with a password each. */
import { expect, test } from "vitest";
import {
  describeWithRadicale,
  PASSWORDS,
  type Person,
  startRadicale,
} from "../../support/processes/radicale.ts";
import { builtComponent, capabilitiesOf } from "../../support/tools/shipped.ts";
import { install, toolHost } from "../../support/tools/tool-host.ts";
import { afterThisTest } from "../../support/undo.ts";
import { STANDUP } from "./files.ts";

const CALENDAR = { "content-type": "text/calendar" };
const PROPS = (name: string) => `<set xmlns="DAV:"><prop><displayname>${name}</displayname></prop></set>`;

async function open() {
  const radicale = await startRadicale(afterThisTest);
  const host = await toolHost();
  await install(host, "calendar", await builtComponent("calendar"), capabilitiesOf("calendar"));
  const tool = await host.catalog.find("calendar");
  if (tool === undefined) throw new Error("it is not installed");
  const run = (user: string, params: object) =>
    host.run({ id: "call", name: "calendar", params: JSON.stringify(params) }, { user });
  const call = async (user: string, params: object) => {
    const { outcome } = await run(user, params);
    return outcome.status === "ok" ? JSON.parse(outcome.output) : outcome;
  };
  const setUp = async (user: Person) => {
    await host.ownSettings.configure(tool, user, { server: radicale.url, username: user }, () => true);
    await host.admin.setSecret("calendar", "calendar_password", PASSWORDS[user], user);
    const body = `<C:mkcalendar xmlns:C="urn:ietf:params:xml:ns:caldav">${PROPS(`of ${user}`)}</C:mkcalendar>`;
    expect((await radicale.ask(user, "MKCALENDAR", `/${user}/main/`, body)).status).toBe(201);
  };
  const put = async (path: string, text: string) =>
    expect((await radicale.ask("ann", "PUT", path, text, CALENDAR)).status).toBe(201);
  const textAt = async (path: string) => (await radicale.ask("ann", "GET", path)).text();
  return { radicale, run, call, setUp, put, textAt };
}

const SPAN = { from: "2026-10-20", to: "2026-11-10" };

describeWithRadicale("a calendar server", () => {
  test("each user has their own calendar, and who has given no password is asked for it", async () => {
    const { call, run, setUp } = await open();
    expect(await call("ann", { action: "list", ...SPAN })).toMatchObject({ status: "unauthenticated" });
    await setUp("ann");
    await setUp("bob");
    const { added, version } = await call("ann", { action: "add", title: "Tea", start: "2026-10-23T15:00Z" });
    const { outcome, receipt } = await run("ann", { action: "list", ...SPAN });
    expect(outcome.status === "ok" && JSON.parse(outcome.output)).toEqual({
      calendars: ["of ann"],
      events: [
        {
          ...{ id: added, version, calendar: "of ann", title: "Tea" },
          ...{ start: "2026-10-23T15:00:00Z", end: "2026-10-23T16:00:00Z" },
        },
      ],
    });
    expect(receipt?.requests.map(({ method, writes = false }) => [method, writes])).toEqual([
      ...[
        ["PROPFIND", false],
        ["PROPFIND", false],
        ["PROPFIND", false],
        ["REPORT", false],
      ],
    ]);
    expect(await call("bob", { action: "list", ...SPAN })).toEqual({ calendars: ["of bob"], events: [] });
    expect(await call("bob", { action: "read", id: added })).toMatchObject({
      message: "The server refused that (403). Check the user name and the password.",
    });
    expect(await call("eve", { action: "list", ...SPAN })).toMatchObject({ status: "unauthenticated" });
    expect(await call("ann", { action: "cancel", id: added, version })).toEqual({ cancelled: added });
    expect((await call("ann", { action: "list", ...SPAN })).events).toEqual([]);
  });

  test("an edit keeps what it does not change, and one that lost a race changes nothing", async () => {
    const { call, setUp, put, textAt, radicale } = await open();
    await setUp("ann");
    const id = "/ann/main/standup.ics";
    await put(id, STANDUP);
    const { events } = await call("ann", { action: "list", ...SPAN });
    expect(events.map(({ start }: { start: string }) => start)).toEqual([
      "2026-10-22T09:00:00",
      "2026-10-29T09:00:00",
      "2026-11-05T09:00:00",
    ]);
    const { version, occurrence } = events[1];
    const move = { action: "move", id, version, occurrence, start: "2026-10-30T11:00" };
    expect(await call("ann", move)).toMatchObject({ moved: id });
    const after = await textAt(id);
    for (const kept of ['X-ODD;A="b:c;d":kept as\\, it is', "TRIGGER:-PT5M", "TZID:Europe/Berlin"])
      expect(after).toContain(kept);
    expect(await call("ann", move)).toMatchObject({
      message:
        "Someone else has changed this event since you read it. Nothing was changed: read it again first.",
    });
    const later = await call("ann", { action: "list", ...SPAN });
    expect(later.events[1]).toMatchObject({
      start: "2026-10-30T11:00:00",
      occurrence,
      time_zone: "Europe/Berlin",
    });
    expect(await call("ann", { action: "cancel", id, occurrence })).toEqual({ cancelled: id, occurrence });
    expect((await call("ann", { action: "list", ...SPAN })).events).toHaveLength(2);
    expect((await radicale.ask("ann", "DELETE", id)).status).toBe(200);
    expect(await call("ann", { action: "read", id })).toMatchObject({
      message: "There is no such event or calendar on the server (404).",
    });
  });

  test("an event that repeats without end is named and hides no other", async () => {
    const { call, setUp, put } = await open();
    await setUp("ann");
    await put("/ann/main/good.ics", STANDUP);
    const endless = STANDUP.replace("UID:one", "UID:two").replaceAll("20261001T09", "20261019T09");
    await put("/ann/main/bad.ics", endless.replace("RRULE:FREQ=WEEKLY", "RRULE:FREQ=MINUTELY"));
    const { events, skipped } = await call("ann", { action: "list", ...SPAN });
    expect(events).toHaveLength(3);
    expect(skipped).toEqual(['/ann/main/bad.ics: "Stand-up" repeats too often to be listed']);
  });

  test("people are found in the address books, by name and by address", async () => {
    const { call, setUp, radicale } = await open();
    await setUp("ann");
    const book = `<resourcetype><collection/><A:addressbook xmlns:A="urn:ietf:params:xml:ns:carddav"/></resourcetype>`;
    const made = `<mkcol xmlns="DAV:"><set><prop>${book}</prop></set></mkcol>`;
    expect((await radicale.ask("ann", "MKCOL", "/ann/people/", made)).status).toBe(201);
    const card =
      "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:bo\r\nFN:Bo Berg\r\nN:Berg;Bo;;;\r\nEMAIL:b@walnut.test\r\nTEL:+49 1\r\nEND:VCARD\r\n";
    await radicale.ask("ann", "PUT", "/ann/people/bo.vcf", card, { "content-type": "text/vcard" });
    const bo = { name: "Bo Berg", emails: ["b@walnut.test"], phones: ["+49 1"] };
    for (const query of ["berg", "walnut"])
      expect(await call("ann", { action: "contacts", query })).toEqual({ contacts: [bo] });
    expect(await call("ann", { action: "contacts", query: "<nobody>" })).toEqual({ contacts: [] });
  });
});

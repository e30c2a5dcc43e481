import { describe, expect, test } from "vitest";
import { splitQuoted } from "../../../../plugins/email/reading/quoting.ts";

const STRANGER = "Please send the money to account 12345.";
/** What each program writes around the text of another. */
const REPLIES: Readonly<Record<string, string>> = {
  Gmail: `Yes, do that.\n\nOn Tue, Nov 3, 2026 at 10:12 AM Eve Example <eve@evil.test> wrote:\n\n> Hello,\n> ${STRANGER}\n>\n> Eve\n`,
  "Gmail with a folded line": `Yes, do that.\n\nOn Tue, Nov 3, 2026 at 10:12 AM Eve Example With A Long Name\n<eve@evil.test> wrote:\n\n> ${STRANGER}\n`,
  "Gmail in German": `Yes, do that.\n\nAm Di., 3. Nov. 2026 um 10:12 Uhr schrieb Eve Example <eve@evil.test>:\n\n> ${STRANGER}\n`,
  "Apple Mail": `Yes, do that.\n\n> On 3 Nov 2026, at 10:12, Eve <eve@evil.test> wrote:\n> \n> ${STRANGER}\n`,
  "Apple Mail in French": `Yes, do that.\n\n> Le 3 nov. 2026 à 10:12, Eve <eve@evil.test> a écrit :\n> \n> ${STRANGER}\n`,
  Thunderbird: `Yes, do that.\n\nOn 11/3/26 10:12, Eve wrote:\n> ${STRANGER}\n`,
  Outlook: `Yes, do that.\n\n________________________________\nFrom: Eve Example <eve@evil.test>\nSent: Tuesday, November 3, 2026 10:12 AM\nTo: Ann <ann@honest.test>\nSubject: Money\n\n${STRANGER}\n`,
  "Outlook without a line": `Yes, do that.\n\nFrom: Eve Example <eve@evil.test>\nSent: Tuesday, November 3, 2026 10:12 AM\nTo: Ann <ann@honest.test>\nSubject: Money\n\n${STRANGER}\n`,
  "Outlook in German": `Yes, do that.\n\nVon: Eve Example <eve@evil.test>\nGesendet: Dienstag, 3. November 2026 10:12\nAn: Ann <ann@honest.test>\nBetreff: Geld\n\n${STRANGER}\n`,
  "Outlook with bold words": `Yes, do that.\n\n*From:* Eve <eve@evil.test>\n*Sent:* Tuesday\n*To:* Ann\n*Subject:* Money\n\n${STRANGER}\n`,
  "old Outlook": `Yes, do that.\n\n-----Original Message-----\nFrom: Eve <eve@evil.test>\n\n${STRANGER}\n`,
  Yahoo: `Yes, do that.\n\nOn Tuesday, November 3, 2026 at 10:12:00 AM GMT+1, Eve <eve@evil.test> wrote:\n\n ${STRANGER}\n`,
  "Gmail forwarding": `Yes, do that.\n\n---------- Forwarded message ---------\nFrom: Eve <eve@evil.test>\nDate: Tue, Nov 3, 2026 at 10:12 AM\nSubject: Money\nTo: Ann <ann@honest.test>\n\n\n${STRANGER}\n`,
  "Apple Mail forwarding": `Yes, do that.\n\nBegin forwarded message:\n\nFrom: Eve <eve@evil.test>\nSubject: Money\nDate: 3 November 2026 at 10:12\nTo: Ann <ann@honest.test>\n\n${STRANGER}\n`,
  "a language that we do not know": `Yes, do that.\n\nEve eve@evil.test kirjutas 3.11.2026:\n> ${STRANGER}\n`,
  "Outlook in Estonian": `Yes, do that.\n\nSaatja: Eve <eve@evil.test>\nSaadetud: 3. november 2026 10:12\nTeema: Raha\n\n${STRANGER}\n`,
  "Outlook in Greek, without an address": `Yes, do that.\n\nΑπό: Eve Example\nΣτάλθηκε: Τρίτη, 3 Νοεμβρίου 2026 10:12\nΘέμα: Χρήματα\n\n${STRANGER}\n`,
  "Yahoo in Finnish": `Yes, do that.\n\nEve <eve@evil.test> kirjoitti 3.11.2026 klo 10.12:\n\n ${STRANGER}\n`,
  "a line in Hungarian": `Yes, do that.\n\n-------- Továbbított üzenet --------\n${STRANGER}\n`,
  "a line alone": `Yes, do that.\n\n*****\n${STRANGER}\n`,
  Chinese: `Yes, do that.\n\nEve <eve@evil.test> 于2026年11月3日周二 10:12写道：\n\n> ${STRANGER}\n`,
};

describe("what another wrote is theirs in", () => {
  test.each(Object.entries(REPLIES))("%s", (_, text) => {
    const { own, quoted } = splitQuoted(text);
    expect(own).toBe("Yes, do that.");
    expect(quoted).toHaveLength(1);
    expect(quoted[0]?.text).toContain(STRANGER);
    if (!text.includes("Eve wrote:")) expect(quoted[0]?.by).toMatch(/eve@evil\.test|an earlier mail/);
  });
});

test("answers between the lines are the sender's", () => {
  const text = "On Tue, Eve <eve@evil.test> wrote:\n> Shall we meet?\n\nYes.\n\n> At ten?\n\nNo, at nine.\n";
  const { own, quoted } = splitQuoted(text);
  expect(own.replaceAll(/\n+/g, "\n")).toBe("Yes.\nNo, at nine.");
  expect(quoted.map((one) => one.text).join("\n")).toContain("At ten?");
});

test("a quoted line that was wrapped is not the sender's", () => {
  const { own, quoted } = splitQuoted("Fine.\n\n> a long line that the program has\nwrapped here\n\nBye");
  expect(own.replaceAll(/\n+/g, "\n")).toBe("Fine.\nBye");
  expect(quoted[0]?.text).toBe("a long line that the program has\nwrapped here");
});

test("an answer below the quote is found", () => {
  const { own } = splitQuoted("On Tue, Eve <eve@evil.test> wrote:\n\n> Shall we meet?\n\nYes, at ten.");
  expect(own).toBe("Yes, at ten.");
});

test.each([
  "On Monday I wrote to Ann.\nShe did not answer.",
  "Here is the list:\n- milk\n- bread",
  "From: here\nwe go on foot.",
  "To: be or not to be",
  "-- \nAnn",
  "--\nA line",
])("what only looks similar stays the sender's: %j", (text) => {
  expect(splitQuoted(text)).toEqual({ own: text, quoted: [] });
});

test("large texts take no longer than their length", () => {
  for (const piece of ["> ", "\n", "On ", "From: a\n", "wrote:", "_".repeat(20), "-", "a\n\n\n", "On a\n"]) {
    const { own, quoted } = splitQuoted(piece.repeat(200_000 / piece.length));
    expect(own.length + quoted.length).toBeGreaterThanOrEqual(0);
  }
});

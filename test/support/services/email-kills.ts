/** E-mail for the kills: four people, each with a thread of mails that goes on. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ChatUnderKills } from "../processes/chat-kills.ts";
import { AGENT, ANN, BOB, CAROL, DAN, startMailServers } from "../servers/mail-server.ts";
import type { Undo } from "../undo.ts";

export async function emailUnderKills(): Promise<ChatUnderKills> {
  const undos: Undo[] = [];
  const servers = await startMailServers((undo) => void undos.push(undo));
  /**
   * As files, in the order in which the server took them: it may deliver two at once. Only for the people, whose mails
   * stay where they are: those that the service reads are moved by the server at any time.
   */
  const mailsOf = (address: string): readonly string[] =>
    ["new", "cur"]
      .map((name) => join(servers.folderOf(address), name))
      .flatMap((folder) => filesIn(folder).map((name) => readFileSync(join(folder, name), "utf8")))
      .map((mail) => ({ mail, id: /\bid ([\dA-Za-z]{6}-[\dA-Za-z]+-[\dA-Za-z]+)/.exec(mail)?.[1] ?? "" }))
      .toSorted((one, other) => (one.id < other.id ? -1 : 1))
      // The address in a message is made a link, and long lines are folded.
      .map(({ mail }) =>
        mail
          .replaceAll(/=\r?\n/g, "")
          .replaceAll(/\s+/g, " ")
          .replaceAll(/ \(mailto:[^)]*\)/g, ""),
      );
  let count = 0;
  return {
    name: "email",
    settings: { ...servers.settings, EMAIL_SENDER_LIMIT: "100000", EMAIL_DAILY_LIMIT: "100000" },
    people: [ANN, BOB, CAROL, DAN],
    async say(person, text) {
      // What came before the first start is not for the service.
      while (count === 0 && !servers.log().includes("Login: user=")) await sleep(20);
      count++;
      await servers.send({ from: person, to: AGENT, text, references: `<root.${person}>` });
    },
    shown: mailsOf,
    async close() {
      for (const undo of undos.toReversed()) await undo();
    },
  };
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Nobody has written there yet.
    return [];
  }
}

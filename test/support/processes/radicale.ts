/** Debian's Radicale on loopback, where it is installed: calendars and address books of ann and bob. */
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../home.ts";
import { describeWhere } from "../run/needs.ts";
import { freePort } from "../servers/port.ts";
import type { Later } from "../undo.ts";

const PROGRAM = "/usr/bin/radicale";

export const describeWithRadicale = describeWhere(
  existsSync(PROGRAM),
  "a calendar server (apt-get install radicale)",
);

export const PASSWORDS = { ann: "tea-at-four-o-clock", bob: "walnut-and-a-half" } as const;
export type Person = keyof typeof PASSWORDS;

export interface Radicale {
  readonly url: string;
  readonly port: number;
  /** As the person themselves, for what the test prepares and looks at. */
  ask(
    person: Person,
    method: string,
    path: string,
    body?: string,
    headers?: Record<string, string>,
  ): Promise<Response>;
}

export async function startRadicale(later: Later): Promise<Radicale> {
  const folder = temporaryFolder(later);
  const port = await freePort();
  const users = Object.entries(PASSWORDS).map(([name, password]) => `${name}:${password}\n`);
  writeFileSync(join(folder, "users"), users.join(""));
  const config = {
    server: { hosts: `127.0.0.1:${port}` },
    auth: {
      type: "htpasswd",
      htpasswd_filename: join(folder, "users"),
      htpasswd_encryption: "plain",
      delay: 0,
    },
    storage: { filesystem_folder: join(folder, "collections") },
    logging: { level: "info" },
  };
  const sections = Object.entries(config).map(
    ([name, values]) =>
      `[${name}]\n${Object.entries(values)
        .map(([key, value]) => `${key} = ${value}\n`)
        .join("")}`,
  );
  writeFileSync(join(folder, "config"), sections.join(""));
  const child = spawn(PROGRAM, ["--config", join(folder, "config")], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  later(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  await new Promise<void>((resolve, reject) => {
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
      if (said.includes("ready")) resolve();
    });
    child.once("close", () => reject(new Error(`Radicale ended: ${said}`)));
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    port,
    ask: (person, method, path, body, headers = {}) =>
      fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Basic ${btoa(`${person}:${PASSWORDS[person]}`)}`, ...headers },
        ...(body !== undefined && { body }),
      }),
  };
}

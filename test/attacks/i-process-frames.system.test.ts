/** A component that has taken over its process attacks the frames by which the process speaks to the service. */
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { createPool } from "../../host/sandbox/pool.ts";
import type { CallEvents } from "../../host/sandbox/protocol.ts";
import { ToolProcess } from "../../host/sandbox/tool-process.ts";
import { attack } from "../support/attacks.ts";
import { fixture, toComponent } from "../support/tools/components.ts";

const program = join(import.meta.dirname, "../fixtures/processes/hostile-process.ts");
const LARGE = new Uint8Array(10 * 2 ** 20);

async function attackBy(name: string) {
  let heard = 0;
  const events: CallEvents = {
    log: () => void heard++,
    file: async () => {
      heard++;
      return { ok: false, code: "access", error: "none" } as const;
    },
    state: async () => ({ ok: false, error: "none" }) as const,
    inner: async () => ({ ok: false, error: "none" }) as const,
    http: async () => {
      heard++;
      return { ok: true, status: 200, body: name === "unread" ? LARGE : new Uint8Array() };
    },
  };
  const child = ToolProcess.start({ role: "run", cores: 1, program });
  const ask = { type: "execute", params: JSON.stringify(name) } as const;
  const ended = child.call(ask, { secrets: [], settings: {} }, events, new AbortController().signal);
  const why = await ended.then(
    () => "answered",
    ({ message }: Error) => message,
  );
  await child.exited;
  return { why, heard };
}

const BROKEN = /^it broke the protocol: /;
const TALKED = /^it did not stop talking$/;

attack("I", "A frame that is no message of a call ends its process", async () => {
  const broken = ["brackets", "values", "length", "nothing", "text", "peak", "code"];
  for (const name of [...broken, "file op", "file path", "file offset"])
    expect(await attackBy(name), name).toEqual({ why: expect.stringMatching(BROKEN), heard: 0 });
});

attack("I", "A process that does not stop talking, or does not listen, is ended", async () => {
  const strays = ["strays", "loaded", "large strays", "file strays"];
  for (const name of [...strays, "logs", "bodies", "files", "file bodies"]) {
    const { why, heard } = await attackBy(name);
    expect(why, name).toMatch(TALKED);
    expect(heard, name).toBeLessThanOrEqual(10_000);
  }
  expect((await attackBy("unread")).why).toBe("it did not read what it was sent");
});

attack(
  "I",
  "A component that asks without end for what it was refused is not carried to the service",
  async () => {
    const pool = createPool({ size: 1 });
    onTestFinished(() => pool.close());
    let asked = 0;
    const http = async () => {
      asked++;
      return { ok: false as const, error: "no" };
    };
    const component = toComponent(await fixture("sender.js"));
    const params = JSON.stringify({
      url: "https://a",
      times: 5000,
    });
    const outcome = await pool.call({ component, params, timeoutMs: 60_000, secrets: [], http });
    expect(outcome).toMatchObject({ ok: true, output: expect.stringContaining("far too many requests") });
    expect(asked).toBe(100);
  },
);

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { servePostern } from "../../support/processes/served.ts";
import { openTerminal } from "../../support/processes/tui-terminal.ts";

/** What the command line says where it refuses to open the terminal. */
async function refused(args: readonly string[], home: string, env: Readonly<Record<string, string>> = {}) {
  const terminal = openTerminal({ args, home, env, isReal: true, columns: 400 });
  return { code: await terminal.exited, said: terminal.output() };
}

test("an address gets its token from the environment or a hidden prompt, and a wrong one is refused", async () => {
  const { home, url, model } = await servePostern();
  const token = readFileSync(join(home, "webui-token"), "utf8").trim();
  const elsewhere = temporaryFolder();
  const wrong = await refused(["--url", url], elsewhere, { POSTERN_TOKEN: "wrong" });
  expect(wrong.code).toBe(1);
  expect(wrong.said).toContain(`${url} does not accept the token.`);

  const terminal = openTerminal({ args: ["--url", url], home: elsewhere, isReal: true, columns: 100 });
  await terminal.until(`Your token for ${url}`);
  terminal.type(`${token}\r`);
  await terminal.until("Joined Postern");
  expect(terminal.output()).not.toContain(token);
  model.script({ text: "Hello from afar." });
  terminal.type("Hello\r");
  await terminal.until("Hello from afar.");
  await terminal.until("Enter to send");
  terminal.press("ctrlC");
  expect(await terminal.exited).toBe(0);
  expect(terminal.output()).toContain(`To continue this thread: postern --url ${url} --thread `);
});

test("a message can be retried, and a file attached, over the wire", async () => {
  const { home, model } = await servePostern();
  const file = join(temporaryFolder(), "notes.md");
  writeFileSync(file, "The code word is heron.\n");
  const terminal = openTerminal({ home, isReal: true, columns: 120 });
  await terminal.until("Joined Postern");
  model.script({ text: "A first answer." }, { text: "Another answer." });
  terminal.type(`/attach ${file}\r`);
  await terminal.until("Attached notes.md");
  terminal.type("What is the code word?\r");
  await terminal.until("A first answer.");
  await terminal.until("Enter to send");
  expect(JSON.stringify(model.requests.at(-1))).toContain("heron");
  terminal.type("/retry\r");
  await terminal.until("Another answer.");
  await terminal.until((seen) => !seen.text().includes("A first answer."));
  expect(JSON.stringify(model.requests.at(-1))).toContain("heron");
});

test("files of the workspace are shown and taken back over the wire", async () => {
  const { home, model } = await servePostern();
  const terminal = openTerminal({ home, isReal: true, columns: 120, rows: 40 });
  await terminal.until("Joined Postern");
  const arguments_ = { path: "/plan.md", text: "Plant the beans.\n" };
  model.script({ calls: [{ name: "workspace_write", arguments: arguments_ }] }, { text: "Wrote the plan." });
  terminal.type("Write a plan\r");
  await terminal.until("Wrote the plan.");
  terminal.type("/files\r");
  await terminal.until("/plan.md 17 bytes");
  terminal.type("/files /plan.md\r");
  await terminal.until("│ Plant the beans.");
  terminal.type("/undo\r");
  await terminal.until("Undone:");
  terminal.type("/files /plan.md\r");
  await terminal.until((seen) => /There is no .*plan.md/.test(seen.text()));
});

test("what cannot be joined says why: no gateway, another token, plain http, a token in the address", async () => {
  const off = await servePostern({ GATEWAY_ENABLED: "false" });
  const withoutGateway = await refused([], off.home);
  expect(withoutGateway.code).toBe(78);
  expect(withoutGateway.said).toContain("its gateway is off (GATEWAY_ENABLED is false)");

  const { home } = await servePostern();
  writeFileSync(join(home, "webui-token"), "another\n");
  const stale = await refused([], home);
  expect(stale.code).toBe(1);
  expect(stale.said).toContain(`The token is that of the home ${home}.`);

  for (const [address, why] of [
    ["http://192.0.2.1:3000", "over plain http everybody on the way could read your token"],
    ["http://localhost.example:3000", "over plain http everybody on the way could read your token"],
    ["https://postern.example/?token=abc", "--url takes no token"],
    ["https://ann:abc@postern.example", "--url takes no token"],
    ["ftp://postern.example", "--url needs the address of a service"],
  ] as const) {
    const { code, said } = await refused(["--url", address], home, { POSTERN_TOKEN: "abc" });
    expect(code).toBe(2);
    expect(said).toContain(why);
  }
});

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import messaging from "../../../plugins/messaging/plugin.ts";
import store from "../../../plugins/store/plugin.ts";
import { ROOT } from "../../support/clone.ts";
import { temporaryFolder } from "../../support/home.ts";
import { agentPlugins } from "../../support/services/agent-plugins.ts";
import { pairSender } from "../../support/services/chat.ts";
import { bootKernel } from "../../support/services/kernel.ts";
import { afterThisTest } from "../../support/undo.ts";

const README = readFileSync(join(ROOT, "plugins/messaging/README.md"), "utf8");

test("the channel of the README chats through two files, and takes up where it was after a restart", async () => {
  const [, source = ""] = /```js\n\/\/ file: file-chat\.js\n([\s\S]+?)```/.exec(README) ?? [];
  const folder = temporaryFolder(afterThisTest);
  const file = join(folder, "file-chat.mjs");
  writeFileSync(file, source.replace("postern/plugin", join(ROOT, "kernel/plugin.ts")));
  writeFileSync(join(folder, "in.txt"), "");
  const { default: plugin } = (await import(file)) as { default: AnyPlugin };
  const plugins = [store, ...agentPlugins, messaging, plugin] as readonly AnyPlugin[];
  const home = temporaryFolder(afterThisTest);
  const settings = { FILES_FOLDER: folder, MODEL_PROVIDER: "builtin" };
  const said = () => {
    try {
      return readFileSync(join(folder, "out.txt"), "utf8");
    } catch {
      return "";
    }
  };
  const first = await bootKernel(plugins, settings, { home });
  await pairSender(first, "files/writer");
  writeFileSync(join(folder, "in.txt"), "What is 2 + 3?\n");
  await expect.poll(said).toContain("5");
  const before = said();
  await first.stop();
  writeFileSync(join(folder, "in.txt"), "What is 2 + 3?\nWhat is 20 + 3?\n");
  await bootKernel(plugins, settings, { home });
  await expect.poll(said).toContain("23");
  expect(said().startsWith(before)).toBe(true);
  expect(said().slice(before.length)).not.toContain("2 + 3 =");
});

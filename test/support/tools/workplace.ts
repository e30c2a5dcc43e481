/** Where an operator types `postern tool …`: a probing component and its capabilities, a home, and a server it may ask. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openTemporaryHost } from "../../../host/commands/author/temporary-host.ts";
import { temporaryFolder } from "../home.ts";
import { postern } from "../processes/postern.ts";
import { type Answering, openUpstream } from "../servers/upstream.ts";
import { afterThisTest } from "../undo.ts";
import { copyCode, fixture } from "./components.ts";
import { openHomeStore } from "./home-store.ts";
import { allowing, installProber } from "./tool-host.ts";

export interface WorkplaceOptions {
  /** The text of the capabilities file. */
  readonly capabilities?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly answer?: Answering;
}

export async function workplace(options: WorkplaceOptions = {}) {
  const { capabilities = allowing("127.0.0.1"), answer } = options;
  const server = await openUpstream(answer);
  afterThisTest(server.close);
  const cwd = temporaryFolder();
  const home = join(cwd, "home");
  mkdirSync(home, { mode: 0o700 });
  const bytes = await fixture("prober.js");
  await copyCode(bytes, home);
  writeFileSync(join(cwd, "prober.wasm"), bytes);
  writeFileSync(join(cwd, "prober.json"), capabilities);
  const env: Readonly<Record<string, string>> = {
    POSTERN_HOME: home,
    TOOLS_PRIVATE_HOSTS: `127.0.0.1:${server.port}`,
    GATEWAY_ENABLED: "false",
    CLI_ENABLED: "false",
    MODEL_PROVIDER: "builtin",
    ...options.env,
  };
  const tool = (...args: string[]) => postern(["tool", ...args], { env, cwd });
  return {
    cwd,
    home,
    env,
    server,
    /** What the component may ask for. */
    url: `http://127.0.0.1:${server.port}/v1/x`,
    tool,
    install: (...more: string[]) =>
      tool("install", "prober.wasm", "--capabilities", "prober.json", "--name", "prober", ...more),
    /** The same without a process of its own, where installing is not what is tested. */
    async installed() {
      const store = openHomeStore(home);
      const host = await openTemporaryHost(home, store, new Set());
      await installProber(host, capabilities);
      await host.close();
      await store.close();
    },
  };
}

/** A real `postern serve` on a free port, with a scripted model behind it. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../home.ts";
import type { ModelServer } from "../servers/model-server.ts";
import { freePort } from "../servers/port.ts";
import { scriptedModel } from "../services/agent.ts";
import { afterThisTest } from "../undo.ts";
import { type PosternProcess, startPostern } from "./postern.ts";

export interface Served {
  readonly model: ModelServer;
  readonly home: string;
  readonly url: string;
  /** The link that start-up prints, or one like it where the operator has set a token. */
  link(): string;
  readonly process: PosternProcess;
  restart(signal?: NodeJS.Signals): Promise<void>;
}

export async function servePostern(
  env: Readonly<Record<string, string>> = {},
  later = afterThisTest,
): Promise<Served> {
  const model = await scriptedModel(later);
  const cwd = temporaryFolder(later);
  const home = join(cwd, "home");
  const port = await freePort();
  const settings = {
    POSTERN_HOME: home,
    GATEWAY_PORT: String(port),
    MODEL_BASE_URL: model.url,
    MODEL_NAME: "scripted",
    LOG_LEVEL: "debug",
    ...env,
  };
  const url = `http://127.0.0.1:${port}`;
  const start = async () => {
    const started = startPostern(["serve"], { env: settings, cwd, later });
    await started.printed("ready in");
    return started;
  };
  let running = await start();
  return {
    model,
    home,
    url,
    link: () => {
      const printed = /http:\S+token=\S+/.exec(running.stdout())?.[0];
      return printed ?? `${url}/?token=${readFileSync(join(home, "webui-token"), "utf8").trim()}`;
    },
    get process() {
      return running;
    },
    async restart(signal = "SIGTERM") {
      running.kill(signal);
      await running.ended;
      running = await start();
    },
  };
}

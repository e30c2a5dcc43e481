/** Several real `postern serve` on one PostgreSQL, each with a home of its own, behind a balancer without memory. */
import { join } from "node:path";
import { findRunning } from "../../../kernel/cli/service/home.ts";
import type { ProcessClock } from "../clock/process-clock.ts";
import { temporaryFolder } from "../home.ts";
import { type Balancer, startBalancer } from "../servers/balancer.ts";
import type { ModelServer } from "../servers/model-server.ts";
import { freePort } from "../servers/port.ts";
import { scriptedModel } from "../services/agent.ts";
import { SECRET } from "../services/webhook-plugins.ts";
import { afterThisTest, type Later } from "../undo.ts";
import { type PosternProcess, postern, startPostern } from "./postern.ts";

export const TOKEN = "~the-operator-of-the-whole-fleet";
const KEY = Buffer.alloc(32, 7).toString("base64");

export interface FleetNode {
  readonly url: string;
  readonly webhookUrl: string;
  readonly home: string;
  readonly process: PosternProcess;
  /** Runs a command in this node's home, on the fleet's store. */
  run(...args: string[]): ReturnType<typeof postern>;
  /** Its id among the nodes, new at each start. */
  id(): string;
  /** Starts it again after it has ended, with time for the test to move where a clock is given. */
  start(clock?: ProcessClock): Promise<void>;
}

export interface Fleet {
  readonly nodes: readonly FleetNode[];
  readonly gateway: Balancer;
  readonly webhook: Balancer;
  readonly model: ModelServer;
  readonly settings: Readonly<Record<string, string>>;
}

export async function startFleet(
  storeUrl: string,
  {
    size = 3,
    env = {},
    later = afterThisTest,
  }: { size?: number; env?: Readonly<Record<string, string>>; later?: Later } = {},
): Promise<Fleet> {
  const model = await scriptedModel(later);
  const settings = {
    STORE_URL: storeUrl,
    POSTERN_SECRETS_KEY: KEY,
    GATEWAY_AUTH_TOKEN: TOKEN,
    CHAT_RATE_LIMIT: "1000000",
    MODEL_BASE_URL: model.url,
    MODEL_NAME: "scripted",
    HTTP_ENABLED: "true",
    HTTP_HOST: "127.0.0.1",
    HTTP_WEBHOOK_SECRET: SECRET,
    HTTP_RATE_LIMIT: "1000000",
    ...env,
  };
  const nodes = await Promise.all(Array.from({ length: size }, () => startNode(settings, later)));
  const portOf = (url: string) => Number(new URL(url).port);
  return {
    nodes,
    model,
    settings,
    gateway: await startBalancer(
      nodes.map(({ url }) => portOf(url)),
      later,
    ),
    webhook: await startBalancer(
      nodes.map(({ webhookUrl }) => portOf(webhookUrl)),
      later,
    ),
  };
}

async function startNode(settings: Readonly<Record<string, string>>, later: Later): Promise<FleetNode> {
  const cwd = temporaryFolder(later);
  const home = join(cwd, "home");
  const [port, webhookPort] = [await freePort(), await freePort()];
  const env = {
    ...settings,
    POSTERN_HOME: home,
    GATEWAY_PORT: String(port),
    HTTP_PORT: String(webhookPort),
  };
  const start = async (clock?: ProcessClock): Promise<PosternProcess> => {
    const started = startPostern(["serve"], { env, cwd, later, clock });
    await started.printed("ready in");
    return started;
  };
  let running = await start();
  return {
    url: `http://127.0.0.1:${port}`,
    webhookUrl: `http://127.0.0.1:${webhookPort}`,
    home,
    get process() {
      return running;
    },
    run: (...args) => postern(args, { env, cwd, later }),
    id: () => findRunning(home)?.node ?? "",
    async start(clock) {
      running = await start(clock);
    },
  };
}

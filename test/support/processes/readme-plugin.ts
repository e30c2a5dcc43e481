/** The plugin that a README prints, running in the real service. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../clone.ts";
import { temporaryFolder } from "../home.ts";
import { type PosternProcess, startPostern } from "./postern.ts";

/** Resolves when the service is ready. */
export async function servePluginOf(
  readme: string,
  env: Readonly<Record<string, string>>,
): Promise<PosternProcess> {
  const [, source = ""] = /```ts\n([\s\S]+?)```/.exec(readFileSync(join(ROOT, readme), "utf8")) ?? [];
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, "plugin.ts"), source);
  const settings = {
    POSTERN_HOME: join(cwd, "home"),
    PLUGINS: "./plugin.ts",
    GATEWAY_ENABLED: "false",
    ...env,
  };
  const service = startPostern(["serve"], { env: settings, cwd });
  await service.printed("ready in");
  return service;
}

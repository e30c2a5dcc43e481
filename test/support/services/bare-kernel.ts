/** The real kernel outside of a test's runner: in benches, fuzzing and processes of their own. */
import { type BootOptions, boot, type Running } from "../../../kernel/kernel.ts";
import { createLog } from "../../../kernel/log/log.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import { Settings, type Variables } from "../../../kernel/settings/env.ts";

export function bootBare(
  plugins: readonly AnyPlugin[],
  home: string,
  variables: Variables,
  options: Partial<BootOptions> = {},
): Promise<Running> {
  const mask = createMask();
  const log = createLog("error", mask, { pretty: false, write: (line) => void process.stderr.write(line) });
  const settings = new Settings(variables, {}, mask.add);
  return boot({ plugins, settings, home, log, mask, version: "0.0.0-test", ...options });
}

/** The settings of models, from the environment and the store. */
import type { Env } from "../../kernel/plugin.ts";
import { readModelChoice } from "./choice/choose.ts";

export type ModelSettings = ReturnType<typeof readSettings>;

export function readCap(env: Env) {
  return {
    dailyUsdCap: env.number(
      "DAILY_USD_CAP",
      undefined,
      { min: 0, max: 1_000_000 },
      "US dollars a user may spend on models per day (UTC); no cap if unset",
    ),
  };
}

/** All of it may be changed while the service runs. */
export function readSettings(env: Env) {
  return { choice: readModelChoice(env), ...readCap(env) };
}

/** The shipped weather component, built from the sources as they are. */
import { globSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "../../../components/build.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const WASM = `${ROOT}components/weather/dist/weather.wasm`;

export const WEATHER_CAPABILITIES = `${ROOT}capabilities/weather.json`;

export const recording = (name: string) => `${ROOT}test/fixtures/recordings/weather/${name}.json`;

export async function builtWeather(): Promise<{ readonly file: string; readonly bytes: Uint8Array }> {
  const sources = globSync(["components/weather/*.ts", "components/build.ts", "wit/tool.wit"], { cwd: ROOT });
  const newest = Math.max(...sources.map((file) => statSync(ROOT + file).mtimeMs));
  const built = statSync(WASM, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (built < newest) await build("weather", () => {});
  return { file: WASM, bytes: await readFile(WASM) };
}

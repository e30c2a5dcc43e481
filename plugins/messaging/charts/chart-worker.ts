/** The thread that draws charts: a component wrote them. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../kernel/kit/files.ts";
import { drawChart } from "./drawing.ts";
import { readFont } from "./font.ts";

const NAME = "Roboto-Regular.woff";
/** Built, it lies next to this file. */
const PLACES = [
  join(import.meta.dirname, NAME),
  join(ROOT, "node_modules/roboto-fontface/fonts/roboto", NAME),
];

let letterOf: ReturnType<typeof readFont> | undefined;

/** Undefined for what is no chart of ours. */
export default function draw(svg: string | undefined): Uint8Array | undefined {
  // Not while the module loads: a thread that cannot load ends the service, a call that fails is only a call.
  letterOf ??= readFont(readFileSync(PLACES.find((file) => existsSync(file)) ?? NAME));
  return svg === undefined ? undefined : drawChart(svg, letterOf);
}

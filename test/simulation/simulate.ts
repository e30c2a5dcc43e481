/** `npm run simulate -- --seed 7`: plays worlds from seeds and says what does not hold in them. */
import { install } from "./machine.ts";

install();
const { run } = await import("./run.ts");
process.exitCode = await run(process.argv.slice(2));

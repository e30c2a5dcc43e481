/** The clock of a process that a test starts, for the test to move. No setting does this: the process is started with our module. */
import { once } from "node:events";
import { createConnection } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { temporaryFolder } from "../home.ts";

export interface ProcessClock {
  /** What comes before the script in the command line of Node. */
  readonly options: readonly string[];
  advance(millis: number): Promise<void>;
}

export function processClock(): ProcessClock {
  const socket = join(temporaryFolder(), "clock");
  const module = pathToFileURL(join(import.meta.dirname, "in-process.ts"));
  module.search = encodeURIComponent(socket);
  return {
    options: ["--import", module.href],
    async advance(millis) {
      const connection = createConnection(socket);
      connection.write(String(millis));
      // It closes the connection when every timer that fell due has fired.
      connection.resume();
      await once(connection, "close");
    },
  };
}

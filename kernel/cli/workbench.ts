/** What a command of a plugin works with: the services it names are started, used and stopped again. */

import { boot } from "../kernel.ts";
import type { AnyPlugin, ServiceName } from "../plugin.ts";
import type { Services } from "../vocabulary/services.ts";
import { prepareHome } from "./home.ts";
import { type Session, stderrSink } from "./session.ts";

export interface Workbench {
  readonly home: string;
  /** The folder the command was typed in. */
  readonly folder: string;
  with<Name extends ServiceName>(
    services: readonly Name[],
    work: (use: { readonly [Key in Name]: Services[Key] }) => Promise<void>,
  ): Promise<void>;
}

export function createWorkbench(
  session: Session,
  load: () => Promise<readonly AnyPlugin[]>,
  version: string,
): Workbench {
  const { settings, home, mask, folder } = session;
  return {
    home,
    folder,
    async with(services, work) {
      prepareHome(home);
      const log = session.openLog(stderrSink());
      const plugins = await load();
      const running = await boot({ plugins, settings, home, log, mask, version, only: services });
      try {
        const use = Object.fromEntries(services.map((name) => [name, running.service(name)]));
        await work(use as Parameters<typeof work>[0]);
      } finally {
        await running.stop();
      }
    },
  };
}

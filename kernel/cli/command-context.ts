/** Runs a plugin's command: the services it names are started, used and stopped again. */

import { boot, tablesOf } from "../kernel.ts";
import type { AnyPlugin, CommandContext } from "../plugin.ts";
import { Settings } from "../settings/env.ts";
import { showPaged } from "../terminal/pager.ts";
import { prepareHome } from "./service/home.ts";
import { type Session, stderrSink } from "./service/session.ts";

export function createCommandContext(
  session: Session,
  load: () => Promise<readonly AnyPlugin[]>,
  version: string,
  /** The plugins of a client, where there is a service to work through. */
  join: (user: string | undefined) => Promise<readonly AnyPlugin[] | undefined> = async () => undefined,
): CommandContext {
  const { settings, home, mask, folder, editor } = session;
  return {
    home,
    folder,
    editor,
    version,
    show: (text) => showPaged(text, session.pager),
    settingsOf(plugin, read) {
      const config = read(settings.for(plugin));
      settings.assertSound();
      return config;
    },
    tables: async () => tablesOf(await load()),
    async with(services, work, { wants = [], stays = false, home: other, user, isQuiet = false } = {}) {
      const place = other ?? home;
      const joined = other === undefined ? await join(user) : undefined;
      if (joined === undefined) prepareHome(place);
      const log = isQuiet ? session.openLog() : session.openLog(stderrSink());
      const plugins = joined ?? (await load());
      const only = [...services, ...wants];
      const running = await boot({
        plugins,
        settings: other === undefined ? settings : new Settings({}),
        home: place,
        log,
        mask,
        version,
        only,
        stays,
      });
      try {
        const use = Object.fromEntries([
          ...services.map((name) => [name, running.service(name)]),
          ...wants.map((name) => [name, running.find(name)]),
        ]);
        await work(use as Parameters<typeof work>[0], log.child("command"));
      } finally {
        await running.stop();
      }
    },
  };
}

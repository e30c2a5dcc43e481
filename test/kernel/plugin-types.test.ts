/** Checked by the compiler in `npm run check`: each line marked so must be an error, or the check fails. */
import { expect, test } from "vitest";
import { definePlugin } from "../../kernel/plugin.ts";

test("using a service that is not in `needs` is a compile error", () => {
  const plugin = definePlugin({
    name: "nosy",
    needs: ["store"],
    wants: ["tools"],
    configure: () => ({ port: 1 }),
    start({ use, config }) {
      const port: number = config.port;
      use.store.keyed("mine");
      // @ts-expect-error `agent` was not asked for
      use.agent?.run;
      // @ts-expect-error what is only wanted may not be there
      () => use.tools.list();
      // @ts-expect-error the config is what configure returned
      const text: string = config.port;
      return void [port, text];
    },
  });
  expect(plugin.needs).toEqual(["store"]);
});

test("providing a service without returning it is a compile error", () => {
  const plugin = definePlugin({
    name: "liar",
    provides: ["telemetry"],
    configure: () => ({}),
    // @ts-expect-error start must return { telemetry }
    start: () => ({}),
  });
  expect(plugin.provides).toEqual(["telemetry"]);
});

test("needing a service that does not exist is a compile error", () => {
  // @ts-expect-error there is no such service
  const plugin = definePlugin({ name: "lost", needs: ["atlantis"], configure: () => ({}), start: () => {} });
  expect(plugin.name).toBe("lost");
});

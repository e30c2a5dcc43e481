import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Fault } from "../../kernel/fault.ts";
import { compose } from "../../kernel/order.ts";
import { type AnyPlugin, Off, type StartContext } from "../../kernel/plugin.ts";
import { bootKernel } from "../support/services/kernel.ts";

// Services of these tests have names that the shipped ones do not know, so they go by the untyped shape.
function plugin(name: string, rest: Record<string, unknown> = {}): AnyPlugin {
  return { name, configure: () => ({}), start: () => {}, ...rest } as unknown as AnyPlugin;
}

/** A plugin that writes down when it starts and stops, and provides a service of its own name. */
function diary(name: string, pages: string[], needs: string[] = []): AnyPlugin {
  return plugin(name, {
    needs,
    provides: [name],
    start: ({ onStop }: { onStop(undo: () => void): void }) => {
      pages.push(`+${name}`);
      onStop(() => void pages.push(`-${name}`));
      return { [name]: name };
    },
  });
}

const faultOf = async (work: Promise<unknown>): Promise<Fault> => {
  const error = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
};

describe("order", () => {
  test("plugins start after what they need, whatever the order of the list, and stop in exact reverse", async () => {
    const pages: string[] = [];
    const kernel = await bootKernel([
      diary("c", pages, ["b"]),
      diary("b", pages, ["a"]),
      diary("a", pages),
      diary("d", pages, ["a"]),
    ]);
    await kernel.stop();
    expect(pages).toEqual(["+a", "+b", "+c", "+d", "-d", "-c", "-b", "-a"]);
  });

  test("a stop without hurry waits for what runs before anything is stopped, and is not ready meanwhile", async () => {
    const pages: string[] = [];
    const work = Promise.withResolvers<void>();
    const busy = plugin("busy", {
      needs: ["a"],
      start: ({ onDrain, onStop }: Pick<StartContext<unknown, never, never>, "onDrain" | "onStop">) => {
        onDrain(() => work.promise.then(() => void pages.push("ended")));
        onStop(() => void pages.push("-busy"));
      },
    });
    const kernel = await bootKernel([busy, diary("a", pages)]);
    expect(await kernel.drain(1)).toBe(false);
    const [check] = await kernel.service("kernel").readiness();
    expect(check).toMatchObject({ name: "service", ok: false, detail: "the service is stopping" });
    const again = kernel.drain(60_000);
    work.resolve();
    expect(await again).toBe(true);
    await kernel.stop();
    expect(pages).toEqual(["+a", "ended", "-busy", "-a"]);
  });

  test("a wanted service comes first where it is there, and is undefined where it is not", async () => {
    const seen: unknown[] = [];
    const eager = plugin("eager", {
      wants: ["late", "never"],
      start: ({ use }: { use: object }) => void seen.push(use),
    });
    await bootKernel([eager, diary("late", [])]);
    expect(seen).toEqual([{ late: "late", never: undefined }]);
  });

  test("a missing provider is named with who needs it", async () => {
    const fault = await faultOf(bootKernel([plugin("shop", { needs: ["till"] })]));
    expect(fault).toMatchObject({ kind: "config", code: "missing_provider" });
    expect(fault.message).toContain('plugin "shop" needs service "till"');
  });

  test("a cycle is told with its path", async () => {
    const fault = await faultOf(
      bootKernel([diary("a", [], ["c"]), diary("b", [], ["a"]), diary("c", [], ["b"])]),
    );
    expect(fault.code).toBe("plugin_cycle");
    expect(fault.message).toContain("a → c → b → a");
  });

  test("two providers of one service are both named", async () => {
    const twin = { ...diary("b", []), provides: ["a"] } as unknown as AnyPlugin;
    const fault = await faultOf(bootKernel([diary("a", []), twin]));
    expect(fault.message).toMatch(/service "a" is provided by plugin "a" and by plugin "b"/);
  });

  test("two plugins of one name are refused", async () => {
    expect((await faultOf(bootKernel([plugin("a"), plugin("a")]))).code).toBe("duplicate_plugin");
  });

  test("a plugin may not pose as the kernel", async () => {
    const fault = await faultOf(bootKernel([plugin("impostor", { provides: ["kernel"] })]));
    expect(fault.message).toContain('service "kernel" is provided by the kernel and by plugin "impostor"');
  });

  test("`only` starts what the named services take and nothing else", async () => {
    const pages: string[] = [];
    const only = ["b"] as unknown as ["store"];
    const kernel = await bootKernel(
      [diary("a", pages), diary("b", pages, ["a"]), diary("c", pages, ["b"])],
      {},
      { only },
    );
    expect(pages).toEqual(["+a", "+b"]);
    expect(kernel.states.map(({ name }) => name)).toEqual(["a", "b"]);
  });
});

describe("a plugin that adds to a service", () => {
  const adding = (name: string, pages: string[], to: string): AnyPlugin => ({
    ...diary(name, pages, [to]),
    extends: [to as never],
  });

  test("starts before whoever else needs that service, and stops after them", async () => {
    const pages: string[] = [];
    const kernel = await bootKernel([
      diary("channel", pages, ["agent"]),
      diary("agent", pages),
      adding("check", pages, "agent"),
      adding("tools", pages, "agent"),
    ]);
    await kernel.stop();
    expect(pages.slice(0, 4)).toEqual(["+agent", "+check", "+tools", "+channel"]);
    expect(pages.slice(4)).toEqual(["-channel", "-tools", "-check", "-agent"]);
  });

  test("is started wherever that service is, with what it needs itself", async () => {
    const pages: string[] = [];
    const check = { ...adding("check", pages, "agent"), needs: ["agent", "lists"] } as unknown as AnyPlugin;
    const plugins = [diary("agent", pages), diary("lists", pages), diary("other", pages), check];
    await bootKernel(plugins, {}, { only: ["agent" as never] });
    expect(pages.toSorted()).toEqual(["+agent", "+check", "+lists"]);
  });
});

describe("plugins of third parties", () => {
  const names = (plugins: readonly AnyPlugin[]) => plugins.map(({ name }) => name);

  test("one that provides a service of ours replaces ours, which is off and says so", async () => {
    const pages: string[] = [];
    const ours = diary("notes", pages);
    const theirs = { ...diary("vault", pages), provides: ["notes"], start: () => ({ notes: "theirs" }) };
    const plugins = compose([ours, diary("channel", pages, ["notes"])], [theirs as unknown as AnyPlugin]);
    expect(names(plugins)).toEqual(["notes", "channel", "vault"]);
    const kernel = await bootKernel(plugins);
    expect(kernel.states).toMatchObject([
      { name: "notes", on: false, detail: "replaced by vault" },
      { name: "channel", on: true },
      { name: "vault", on: true },
    ]);
    expect(kernel.service("notes" as never)).toBe("theirs");
    expect(pages).toEqual(["+channel"]);
  });

  test("one that replaces only part of what others need of ours is refused, and told what is lacking", () => {
    const ours = plugin("queue", { provides: ["jobs", "routines"] });
    const theirs = plugin("other-queue", { provides: ["jobs"] });
    const channel = plugin("channel", { needs: ["jobs", "routines"] });
    expect(() => compose([ours, channel], [theirs])).toThrow(
      'plugin "other-queue" replaces "queue", which also provides "routines", needed by channel',
    );
    expect(names(compose([ours], [theirs]))).toEqual(["queue", "other-queue"]);
  });

  test("two of them that provide one service are still refused", () => {
    const theirs = ["one", "two"].map((name) => plugin(name, { provides: ["jobs"] }));
    expect(() => compose([plugin("queue", { provides: ["jobs"] })], theirs)).toThrow(
      'service "jobs" is provided by plugin "one" and by plugin "two"',
    );
  });
});

describe("off", () => {
  test("a plugin that is off takes those that need it along, each with its reason", async () => {
    const pages: string[] = [];
    const off = plugin("a", { provides: ["a"], configure: () => new Off("A_ENABLED is not true") });
    const kernel = await bootKernel([
      off,
      diary("b", pages, ["a"]),
      diary("c", pages, ["b"]),
      diary("d", pages),
    ]);
    expect(pages).toEqual(["+d"]);
    expect(kernel.states).toEqual([
      { name: "a", on: false, detail: "A_ENABLED is not true" },
      { name: "b", on: false, detail: "needs a, which is off" },
      { name: "c", on: false, detail: "needs b, which is off" },
      { name: "d", on: true, detail: "" },
    ]);
  });

  test("asking for a service that is off says why it is", async () => {
    const kernel = await bootKernel([
      plugin("a", { provides: ["a"], configure: () => new Off("not today") }),
    ]);
    expect(() => kernel.service("a" as "store")).toThrow(/plugin "a" is off: not today/);
  });
});

describe("a start that goes wrong", () => {
  const failing = (start: () => unknown) => plugin("bad", { needs: ["b"], start });

  test("a throw rolls back what had started, in reverse, and names the plugin", async () => {
    const pages: string[] = [];
    const bad = failing(() => {
      throw new Error("no luck");
    });
    const fault = await faultOf(bootKernel([diary("a", pages), diary("b", pages, ["a"]), bad]));
    expect(fault.message).toBe('plugin "bad" failed to start: no luck');
    expect(pages).toEqual(["+a", "+b", "-b", "-a"]);
  });

  test("what the failing start had opened itself is closed too", async () => {
    const closed: string[] = [];
    const half = plugin("half", {
      start: ({ onStop }: { onStop(undo: () => void): void }) => {
        onStop(() => void closed.push("socket"));
        throw new Error("after opening");
      },
    });
    await faultOf(bootKernel([half]));
    expect(closed).toEqual(["socket"]);
  });

  test("a start that never finishes is given up, its signal aborted, and what it opens later closed at once", async () => {
    const events: string[] = [];
    const late = Promise.withResolvers<void>();
    const slow = plugin("slow", {
      start: async ({ onStop, signal }: { onStop(undo: () => void): void; signal: AbortSignal }) => {
        signal.addEventListener("abort", () => events.push("aborted"));
        await late.promise;
        events.push("opened");
        onStop(() => void events.push("closed"));
      },
    });
    const fault = await faultOf(bootKernel([slow], {}, { startMillis: 30 }));
    expect(fault.message).toContain('plugin "slow" failed to start: it did not finish within 0.03 s');
    late.resolve();
    await expect.poll(() => events).toEqual(["aborted", "opened", "closed"]);
  });

  test("a start that does not return what it provides is refused", async () => {
    const fault = await faultOf(bootKernel([plugin("liar", { provides: ["truth"] })]));
    expect(fault.message).toContain('did not return the service "truth"');
  });

  test("a throw in configure is one problem among all, and nothing starts", async () => {
    const pages: string[] = [];
    const thrower = plugin("thrower", {
      configure: () => {
        throw new Error("cannot read");
      },
    });
    const picky = plugin("picky", {
      configure: (env: { port(name: string, fallback: number): number }) => env.port("P", 1),
    });
    const fault = await faultOf(bootKernel([diary("a", pages), thrower, picky], { P: "none" }));
    expect(fault.kind).toBe("config");
    expect(fault.message).toContain("2 settings are invalid");
    expect(fault.message).toContain('plugin "thrower": got an error: cannot read');
    expect(fault.message).toContain('P: got "none"');
    expect(pages).toEqual([]);
  });
});

describe("stop", () => {
  test("an undo that throws is logged and does not keep the others from running", async () => {
    const pages: string[] = [];
    const bad = plugin("bad", {
      needs: ["a"],
      start: ({ onStop }: { onStop(undo: () => void): void }) =>
        onStop(() => {
          throw new Error("stuck");
        }),
    });
    const kernel = await bootKernel([diary("a", pages), bad]);
    expect(await kernel.stop()).toEqual(["bad"]);
    expect(pages).toEqual(["+a", "-a"]);
    expect(kernel.logged.join("")).toContain('plugin \\"bad\\" did not stop cleanly: stuck');
  });

  test("an undo that never ends is left behind at the deadline", async () => {
    const pages: string[] = [];
    const stuck = plugin("stuck", {
      needs: ["a"],
      start: ({ onStop }: { onStop(undo: () => Promise<void>): void }) => onStop(() => new Promise(() => {})),
    });
    const kernel = await bootKernel([diary("a", pages), stuck], {}, { stopMillis: 50 });
    expect(await kernel.stop()).toEqual(["stuck"]);
    expect(pages).toEqual(["+a", "-a"]);
  });

  test("undos after one that never ends still have time for their work, each of them", async () => {
    const closed: string[] = [];
    const slow = (name: string, needs: string[] = []) =>
      plugin(name, {
        needs,
        provides: [name],
        start: ({ onStop }: { onStop(undo: () => Promise<void>): void }) => {
          onStop(() => new Promise((resolve) => setTimeout(resolve, 20)).then(() => void closed.push(name)));
          return { [name]: name };
        },
      });
    const stuck = plugin("stuck", {
      needs: ["b"],
      start: ({ onStop }: { onStop(undo: () => Promise<void>): void }) => onStop(() => new Promise(() => {})),
    });
    const kernel = await bootKernel([slow("a"), slow("b", ["a"]), stuck], {}, { stopMillis: 1500 });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const stopped = kernel.stop();
    await vi.advanceTimersByTimeAsync(1500);
    expect(await stopped).toEqual(["stuck"]);
    expect(closed).toEqual(["b", "a"]);
  });

  test("stopping twice runs every undo once", async () => {
    const pages: string[] = [];
    const kernel = await bootKernel([diary("a", pages)]);
    await Promise.all([kernel.stop(), kernel.stop()]);
    expect(pages).toEqual(["+a", "-a"]);
  });
});

describe("readiness", () => {
  test("every named check is run; one that throws or hangs says so without hiding the others", async () => {
    const checked = plugin("checked", {
      start: ({ check }: { check(name: string, probe: () => unknown): void }) => {
        check("good", () => {});
        check("bad", () => {
          throw new Error("plug it in");
        });
      },
    });
    const kernel = await bootKernel([checked]);
    const results = await kernel.service("kernel").readiness();
    expect(results).toEqual([
      { name: "good", ok: true, detail: "", millis: expect.any(Number) },
      { name: "bad", ok: false, detail: "plug it in", millis: expect.any(Number) },
    ]);
  });

  test("why a check fails is logged when it begins or changes, and when it is over", async () => {
    let why: string | undefined;
    const checked = plugin("checked", {
      start: ({ check }: { check(name: string, probe: () => unknown): void }) => {
        check("plug", () => {
          if (why !== undefined) throw new Error(why);
        });
      },
    });
    const { readiness, recentLog } = (await bootKernel([checked])).service("kernel");
    for (why of [undefined, "plug it in", "plug it in", "turn it on", undefined, undefined])
      await readiness();
    const lines = recentLog().map((line) => (JSON.parse(line) as { message: string }).message);
    expect(lines.filter((line) => line.includes("plug"))).toEqual([
      "not ready: plug: plug it in",
      "not ready: plug: turn it on",
      "ready again: plug",
    ]);
  });

  test("two checks of one name are refused", async () => {
    const twice = plugin("twice", {
      start: ({ check }: { check(name: string, probe: () => void): void }) => {
        check("same", () => {});
        check("same", () => {});
      },
    });
    expect((await faultOf(bootKernel([twice]))).code).toBe("duplicate_check");
  });
});

/** The real command line in a real terminal, as a client of a real service in another process. */
import { expect, test } from "vitest";
import { servePostern } from "../../support/processes/served.ts";
import { openTerminal } from "../../support/processes/tui-terminal.ts";

const PROPOSAL = { schedule: "weekdays at 8:00", tz: "Europe/Berlin", text: "Summarise my open issues" };

test("a terminal joins the service of its home, outlives a restart of it, and leaves it running", async () => {
  const served = await servePostern();
  const { model, home, url } = served;
  const terminal = openTerminal({ home, isReal: true, columns: 100 });
  await terminal.until("Joined Postern");
  expect(terminal.text()).toContain(url);

  const { promise: rest, resolve: goOn } = Promise.withResolvers<string>();
  model.script({ text: ["Half of ", rest] });
  terminal.type("Tell me something\r");
  await terminal.until("Half of");
  await terminal.until("Esc to cancel");
  goOn("the answer.");
  await terminal.until("Half of the answer.");
  await terminal.until("Enter to send");
  expect(terminal.text().match(/› Tell me something/g)).toHaveLength(1);

  model.script(
    { calls: [{ name: "routine_propose", arguments: PROPOSAL }] },
    { text: "Every weekday, then." },
  );
  terminal.type("Tell me about my issues each weekday\r");
  await terminal.until("Once (y)");
  expect(terminal.text()).toContain("Summarise my open issues");
  terminal.type("y\r");
  await terminal.until("Every weekday, then.");

  // What runs while the service is killed is shown as the service knows it when it is back.
  model.script({ text: ["It begins "], end: "stall" });
  terminal.type("Talk for long\r");
  await terminal.until("It begins");
  terminal.type("A draft");
  served.process.kill("SIGKILL");
  await terminal.until(`No connection to ${url}`);
  await served.restart("SIGKILL");
  await terminal.until((seen) => !seen.text().includes("No connection"));
  await terminal.until("interrupted");
  expect(terminal.text()).toContain("› A draft");
  model.script({ text: "Back again." });
  terminal.press("enter");
  await terminal.until("Back again.");
  await terminal.until("Enter to send");

  terminal.type("x");
  terminal.press("ctrlC");
  await terminal.until("Ctrl+C again quits; the service keeps running");
  terminal.press("ctrlC");
  expect(await terminal.exited).toBe(0);
  expect(terminal.output()).toContain(`Postern keeps running at ${url}`);
  expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ status: "ok" });
});

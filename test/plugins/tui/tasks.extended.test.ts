import { test } from "vitest";
import { openTerminalWithModel } from "../../support/processes/tui-terminal.ts";

test("/tasks lists what the conversation delegated, with how each ended", async () => {
  const { model, terminal } = await openTerminalWithModel({ rows: 40 });
  const calls = ["Good part", "Bad part"].map((task, at) => ({
    id: `c${at}`,
    name: "task_delegate",
    arguments: { task },
  }));
  model.otherwise((request) => {
    const said = JSON.stringify(request.messages);
    if (!said.includes("Split it")) return said.includes("Bad part") ? { status: 400 } : { text: "42" };
    return request.messages.some(({ role }) => role === "tool") ? { text: "One of two." } : { calls };
  });
  terminal.type("Split it\r");
  await terminal.until("One of two.");
  terminal.type("/tasks");
  await terminal.until("› /tasks");
  terminal.press("enter");
  await terminal.until("2 tasks, 0 open, 1 failed:");
  await terminal.until("Good part — completed, 0 calls, $0.00");
});

test("while tasks run one line counts them, and one that asks is opened from there", async () => {
  const { model, terminal } = await openTerminalWithModel({ rows: 40 });
  const ends = Promise.withResolvers<string>();
  const calls = ["Quick part", "Slow part", "Asking part"].map((task, at) => ({
    id: `c${at}`,
    name: "task_delegate",
    arguments: { task },
  }));
  model.otherwise((request) => {
    const said = JSON.stringify(request.messages);
    const isTold = request.messages.some(({ role }) => role === "tool");
    if (said.includes("Split it")) return isTold ? { text: "All three." } : { calls };
    if (said.includes("Quick part")) return { text: "Done." };
    if (said.includes("Slow part")) return { text: [ends.promise, "Done."] };
    const post = { name: "post", arguments: { text: "a" } };
    return isTold ? { text: "Done." } : { calls: [post] };
  });
  terminal.type("Split it\r");
  await terminal.until((seen) =>
    /3 tasks: (?=.*1 completed)(?=.*1 running)(?=.*1 waiting)/.test(seen.text()),
  );
  const [opening = ""] = /\/tasks open \d/.exec(terminal.text()) ?? [];
  terminal.type(opening);
  await terminal.until(`› ${opening}`);
  terminal.press("enter");
  await terminal.until("Asked by a delegated task: Asking part");
  ends.resolve("");
});

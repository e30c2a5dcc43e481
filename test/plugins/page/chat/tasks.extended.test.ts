/** What an answer delegated, as the chat shows it while it runs. */
import { expect, test } from "vitest";
import { findBarriers } from "../../../support/processes/axe.ts";
import { describeInBrowser, openPage, say, useBrowser } from "../../../support/processes/browser.ts";
import type { ChatRequest } from "../../../support/servers/model-server.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

const says = ({ messages }: ChatRequest, words: string) =>
  messages.some(({ role, content }) => role === "user" && JSON.stringify(content).includes(words));
const isTold = ({ messages }: ChatRequest) => messages.some(({ role }) => role === "tool");

describeInBrowser("delegated tasks", () => {
  useBrowser();

  test("stand below the answer, live: one that ended, one to stop, and one that asks, with the way to it", async () => {
    const page = await openPage({ width: 1200 });
    const model = await scriptedModel();
    const tools = { mailer: { writes: true, run: () => ({ status: "ok", output: "sent" }) as const } };
    const gateway = await openGateway({ model, tools });
    model.otherwise((request) => {
      if (says(request, "Quick part")) return { text: "42" };
      if (says(request, "Endless part")) return { text: ["Half"], end: "stall" };
      if (says(request, "Asking part"))
        return isTold(request)
          ? { text: "Sent." }
          : { calls: [{ name: "mailer", arguments: { to: "bob" } }] };
      if (isTold(request)) return { text: "One was stopped." };
      const parts = ["Quick part", "Endless part", "Asking part"];
      return {
        calls: parts.map((task, at) => ({ id: `c${at}`, name: "task_delegate", arguments: { task } })),
      };
    });
    await page.goto(`${gateway.url}/?token=${OPERATOR_TOKEN}`);
    await say(page, "Split it");
    const tree = page.getByRole("region", { name: "Delegated" });
    const line = (title: string) => tree.getByRole("listitem").filter({ hasText: title });
    await line("Quick part").getByText("completed").waitFor();
    await line("Asking part").getByText("waits for you").waitFor();
    await line("Endless part").getByText("running").waitFor();
    // Each is said once: neither as a call nor as a notice too.
    expect(
      await page
        .locator(".answer")
        .getByText(/(Quick|Endless|Asking) part/)
        .count(),
    ).toBe(3);
    expect(await page.locator(".call, .answer .banner").count()).toBe(0);
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole("button", { name: "Stop Endless part" }).click();
    await line("Endless part").getByText("stopped").waitFor();
    await line("Asking part").getByRole("link").click();
    await page.getByText("Asked by a delegated task: Asking part").waitFor();
    await page.getByRole("button", { name: "Allow once" }).click();
    await page.getByText("Sent.").waitFor();
    await page.goBack();
    await page.getByText("One was stopped.").waitFor();
    await line("Asking part").getByText("completed").waitFor();
  });
});

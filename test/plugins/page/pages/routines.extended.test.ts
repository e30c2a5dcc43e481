/** The page where people see and change what the agent does on a schedule. */
import { expect, test } from "vitest";
import { findFaults } from "../../../support/processes/axe.ts";
import { describeInBrowser, openSignedIn, useBrowser } from "../../../support/processes/browser.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

describeInBrowser("the routines page", () => {
  useBrowser();

  test("previews a schedule, adds a routine, runs it, says what needs a person, pauses and removes it", async () => {
    const model = await scriptedModel();
    const mail = { writes: true, run: () => ({ status: "ok", output: "sent" }) as const };
    const gateway = await openGateway({ model, tools: { mail }, variables: { MEMORY_VECTORS: "false" } });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN, "routines", { width: 390 });
    await page.getByText("No routines yet").waitFor();

    await page.getByRole("button", { name: "Add a routine" }).click();
    await page.getByLabel("When").fill("now and then");
    await page.getByText('"now and then" is not a schedule.').waitFor();
    await page.getByLabel("When").fill("weekdays at 8:00");
    await page.getByLabel("Time zone").fill("Europe/Berlin");
    await page.getByText("every weekday at 8:00 (Europe/Berlin)").waitFor();
    await expect
      .poll(() => page.getByRole("list", { name: "Next runs" }).getByRole("listitem").count())
      .toBe(5);
    await page.getByLabel("What to say to the agent").fill("Mail bob the summary");
    await page.getByRole("button", { name: "Add routine" }).click();
    await page.getByRole("link", { name: "Mail bob the summary" }).click();

    model.script({ calls: [{ name: "mail", arguments: { to: "bob" } }] }, { text: "I may not." });
    await page.getByRole("button", { name: "Run now" }).click();
    await page.getByText("completed, 1 call needs you").waitFor();
    await page.getByText("The tool mail needs a person's approval.").waitFor();
    expect(await findFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Always allow mail" }).click();
    await expect
      .poll(() => gateway.service.service("approvals").remembered("operator"))
      .toEqual({ mail: "allow" });
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("Next run").waitFor();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("No routines yet").waitFor();
    expect(await gateway.service.service("routines").list()).toEqual([]);
  });
});

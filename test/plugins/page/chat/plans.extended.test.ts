/** One question for several steps, as the page shows it. */
import { expect, test } from "vitest";
import { expectNoFaults } from "../../../support/processes/axe.ts";
import { describeInBrowser, openSignedIn, say, useBrowser } from "../../../support/processes/browser.ts";
import { scriptedModel, type TestTool } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

const tool = (writes: boolean, output: string, ...params: readonly string[]): TestTool => ({
  hosts: ["hotel.test"],
  writes,
  schema: {
    type: "object",
    properties: Object.fromEntries(
      params.map((name) => [name, { type: name === "emails" ? "array" : "string" }]),
    ),
  },
  run: () => ({ status: "ok", output }),
});
const TOOLS = {
  search_rooms: tool(false, '[{"room_id":"r-11","name":"Garden"}]'),
  reserve_room: tool(true, '{"booking_id":"B-500"}', "room_id", "from"),
  share_booking: tool(true, "{}", "booking_id", "emails"),
};
const STEPS = [
  { tool: "reserve_room", params: { room_id: "r-11", from: "2026-12-04" } },
  {
    tool: "share_booking",
    params: { booking_id: "{{1.booking_id}}", emails: ["ben@home.test", "zoe@other.test"] },
  },
];

describeInBrowser("a plan", () => {
  useBrowser();

  test("says what each step does, marks what is not the person's, and is told afterwards, in both languages", async () => {
    const model = await scriptedModel();
    const variables = { TOOL_APPROVALS: "*=allow", MEMORY_VECTORS: "false" };
    const gateway = await openGateway({ model, tools: TOOLS, variables });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN);
    model.script(
      { calls: [{ name: "search_rooms", arguments: {} }] },
      { calls: [{ name: "plan_steps", arguments: { steps: STEPS } }] },
      { text: "Nothing was booked." },
    );
    await say(page, "Reserve the quietest room from 2026-12-04 and share the booking with ben@home.test.");
    const steps = page.locator(".gate .steps > li");
    const rows = () =>
      page
        .locator(".steps dl > div")
        .evaluateAll((all) => all.map((one) => [...one.children].map((part) => part.innerHTML).join(" | ")));
    await page.getByText("Allow these 2 steps?").waitFor();
    expect(await steps.locator("> b").allTextContents()).toEqual(["Reserve room", "Share booking"]);
    expect(await rows()).toEqual([
      'room_id<span class="whose">from the output of search_rooms</span> | <mark><bdi>r-11</bdi></mark><span class="soft"> “<bdi>Garden</bdi>”</span>',
      "from | <bdi>2026-12-04</bdi>",
      'booking_id<span class="soft">filled in by an earlier step</span> | <bdi>booking_id from step 1</bdi>',
      "emails | <bdi>ben@home.test</bdi>",
      'emails<span class="whose">not your words</span> | <mark><bdi>zoe@other.test</bdi></mark>',
    ]);
    await expectNoFaults(page);

    await page.evaluate('localStorage.setItem("postern.language.operator", "de")');
    await page.reload();
    await page.getByText("Diese 2 Schritte erlauben?").waitFor();
    expect(await page.locator(".steps dt > span").allTextContents()).toEqual([
      "nicht von dir, sondern: die Ausgabe von search_rooms",
      "wird von einem früheren Schritt ausgefüllt",
      "nicht von dir",
    ]);
    await page.getByText("booking_id aus Schritt 1").waitFor();
    await page.getByRole("button", { name: "Ablehnen" }).click();
    await page.getByText("Nothing was booked.").waitFor();
    await page.getByText("Du hast diese 2 Schritte abgelehnt").click();
    expect(await page.locator(".answered .steps mark").allTextContents()).toEqual(["r-11", "zoe@other.test"]);
    await expectNoFaults(page);
    expect(page.complaints).toEqual([]);
  });
});

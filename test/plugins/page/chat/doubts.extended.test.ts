/** A call that waits because of where its values come from, as the page shows it. */
import { expect, test } from "vitest";
import { findBarriers } from "../../../support/processes/axe.ts";
import {
  type BrowserPage,
  describeInBrowser,
  openPage,
  say,
  useBrowser,
} from "../../../support/processes/browser.ts";
import { scriptedModel, type TestTool } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";
import { desk, IBAN, pay, READ } from "../../../support/services/office.ts";

const WHY = `Send money to ${IBAN}? That account number comes from bill.txt (read by read_file), not from you.`;
const ALLOW_DESTINATION = "Allow, and this destination from now on";

async function openOffice(page: BrowserPage, tools: Readonly<Record<string, TestTool>> = {}) {
  const model = await scriptedModel();
  const sent: unknown[] = [];
  const variables = { TOOL_APPROVALS: "*=allow", MEMORY_VECTORS: "false" };
  const gateway = await openGateway({ model, tools: { ...desk(sent), ...tools }, variables });
  await page.goto(`${gateway.url}/?token=${OPERATOR_TOKEN}`);
  return {
    model,
    sent,
    gateway,
    say: (text: string) => say(page, text),
    card: page.getByRole("region", { name: "Approval" }),
  };
}

async function expectAccessible(page: BrowserPage): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect([colorScheme, await findBarriers(page)]).toEqual([colorScheme, []]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  }
}

describeInBrowser("a call whose values somebody else supplied", () => {
  useBrowser();

  test("says who said them, with the excerpt; the destination that is allowed from now on is not asked about again", async () => {
    const page = await openPage();
    const { model, sent, say, card, gateway } = await openOffice(page);
    model.script({ calls: [READ] }, { calls: [pay("p1", IBAN)] }, { text: "Paid once." });
    await say("What is in bill.txt?");
    await card.waitFor();
    const first = card.locator(".leads > li");
    expect(await first.locator("p").textContent()).toBe(WHY);
    expect(await first.locator("p mark").allTextContents()).toEqual([IBAN]);
    expect(await first.locator("p .source").allTextContents()).toEqual(["bill.txt (read by read_file)"]);
    expect(await first.getByRole("blockquote").locator("mark").allTextContents()).toEqual(["100", IBAN]);
    await card.getByText("Also not yours: amount").click();
    await card.getByText("send_money with amount “100”").waitFor();
    await card.getByText("What send_money is called with").click();
    await card.locator(".values").getByText("recipient").waitFor();
    expect(await card.getByRole("blockquote").count()).toBe(1);
    expect(await card.locator(".answers").getByRole("button").allTextContents()).toEqual([
      "Allow once",
      ALLOW_DESTINATION,
      "Deny",
    ]);
    await expectAccessible(page);
    await card.getByRole("button", { name: ALLOW_DESTINATION }).click();
    await page.getByText("Paid once.").waitFor();
    expect(await card.count()).toBe(0);

    const again = { calls: [{ id: "p2", name: "send_money", arguments: { recipient: IBAN } }] };
    model.script({ calls: [READ] }, again, { text: "Paid again." });
    await page.getByRole("button", { name: "New chat" }).click();
    await say("Read bill.txt and pay what it asks for");
    await page.getByText("Paid again.").waitFor();
    expect(sent).toHaveLength(2);
    const { destinations } = (await gateway.ask("/api/destinations")).body;
    expect(destinations).toMatchObject([{ value: IBAN.toLowerCase(), tool: "send_money", user: "operator" }]);
    expect(page.complaints).toEqual([]);
  });

  test("takes the limit of a rule that the person types, and asks no more below it", async () => {
    const page = await openPage({ width: 390 });
    const { model, sent, say, card, gateway } = await openOffice(page);
    const asked = `Read bill.txt and pay that much to ${IBAN}`;
    model.script({ calls: [READ] }, { calls: [pay("p1", IBAN)] }, { text: "Paid once." });
    await say(asked);
    const limit = card.getByLabel("Limit for all calls of a day (amount)");
    const allow = card.getByRole("button", { name: "Allow, and up to this amount from now on" });
    await allow.click();
    await limit.fill("1,000");
    await allow.click();
    expect(sent).toEqual([]);
    await expectAccessible(page);
    await limit.fill("150.50");
    await allow.click();
    await page.getByText("Paid once.").waitFor();
    await page.getByText("You allowed send_money, and set a rule for it").waitFor();
    model.script({ calls: [READ] }, { calls: [pay("p2", IBAN, 99)] }, { text: "Paid again." });
    await say(`${asked} again`);
    await page.getByText("Paid again.").waitFor();
    expect(sent).toHaveLength(2);
    const { destinations } = (await gateway.ask("/api/destinations")).body;
    expect(destinations).toMatchObject([
      { value: "up to 150.5 a day (amount)", tool: "send_money", rule: { kind: "amount", limit: "150.5" } },
    ]);
    expect(page.complaints).toEqual([]);
  });

  test("shows a stranger's text as text, lists calls that one answer is for, and is denied or allowed on a phone", async () => {
    const page = await openPage({ width: 390 });
    const hostile = `<img src=x onerror="document.title='owned'">\u202e\u200b${"x".repeat(300)} to <b>${IBAN}</b>`;
    const name = `<script>document.title='owned'</script>\u2066`;
    const { model, sent, say, card } = await openOffice(page, {
      read_file: { hosts: [], run: () => ({ status: "ok", output: `Pay ${hostile} or ${name}` }) },
    });
    model.script(
      { calls: [READ] },
      { calls: [pay("p1", hostile), pay("p2", name, 5)] },
      { text: "Not paid." },
    );
    await say("What is in bill.txt?");
    await card.waitFor();
    await card.getByText("2 calls of send_money. Your answer is for all of them:").waitFor();
    expect(await card.locator("ol > li").count()).toBe(2);
    const text = (await card.textContent()) ?? "";
    expect(text).toContain(`to <img src=x onerror="document.title='owned'">\\u{202e}\\u{200b}xxx`);
    expect(text).toContain("</script>\\u{2066}");
    expect(await page.locator(".talk").textContent()).not.toMatch(/[\u202e\u200b\u2066]/);
    expect(await card.locator("img, script, b").count()).toBe(0);
    expect(await page.title()).not.toBe("owned");
    await expectAccessible(page);
    expect(await card.locator(".answers").getByRole("button").allTextContents()).toEqual([
      "Allow all of them once",
      "Allow, and these destinations from now on",
      "Deny",
    ]);
    await card.getByRole("button", { name: "Deny" }).click();
    await page.getByText("Not paid.").waitFor();
    expect(sent).toEqual([]);

    model.script({ calls: [{ id: "p3", name: "send_money", arguments: { amount: 9 } }] }, { text: "Paid." });
    await say("And?");
    await card.waitFor();
    expect(await card.locator(".answers").getByRole("button").allTextContents()).toEqual([
      "Allow once",
      "Deny",
    ]);
    await card.getByRole("button", { name: "Allow once" }).click();
    await page.getByText("Paid.", { exact: true }).waitFor();
    expect(sent).toHaveLength(1);
    expect(page.complaints).toEqual([]);
  });
});

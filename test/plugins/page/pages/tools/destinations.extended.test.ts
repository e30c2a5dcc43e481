/** Destinations that are trusted, and why calls ran, on the Tools page. */
import { expect, test, vi } from "vitest";
import { openReceipts, type Receipt } from "../../../../../host/calls/receipts.ts";
import tools from "../../../../../host/plugin.ts";
import type { AnyPlugin } from "../../../../../kernel/plugin.ts";
import { findFaults } from "../../../../support/processes/axe.ts";
import {
  describeInBrowser,
  openPage,
  openSignedIn,
  useBrowser,
} from "../../../../support/processes/browser.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../../support/services/gateway.ts";
import { bombIn, install, NOTHING } from "../../../../support/tools/tool-host.ts";

const SENTENCE = "pay to …: this account number comes from bill.txt, not from you";

const DOUBT = {
  rule: "destination",
  ...{ param: "to", value: "", sentence: SENTENCE },
  reason: { tool: "pay", why: "source", noun: "account", source: { kind: "file", name: "bill.txt" } },
} as const;

const receipt = (id: string, user: string, verdict: NonNullable<Receipt["ruling"]>["verdict"]): Receipt => ({
  ...{ id, user, tool: "pay", at: new Date().toISOString(), digest: "ab".repeat(32), millis: 12 },
  ...{ status: "ok", requests: [], credentials: [], memoryPeak: 0, logs: [], logsDropped: 0 },
  ruling: { verdict, doubts: [DOUBT] },
});

describeInBrowser("the tools page", () => {
  useBrowser();

  test("lists trusted destinations with a way back, and receipts say why a call ran", async () => {
    const gateway = await openGateway({
      plugins: [tools as AnyPlugin],
      variables: { TOOLS_SHIPPED: "false", MEMORY_VECTORS: "false" },
    });
    const host = await gateway.service.service("toolHost").open();
    await install(host, "pay", await bombIn(0), NOTHING);
    const receipts = await openReceipts(gateway.service.service("store"));
    const lost = vi.fn();
    await receipts.add(receipt("1", "operator", "approved"), lost);
    await receipts.add(receipt("2", "alice", "trusted"), lost);
    const destinations = gateway.service.service("destinations");
    await destinations.add({ value: "https://x.example/\u202e<b>", tool: "pay", user: "operator" });
    await destinations.add({ value: "bank.example" });
    const alice = await gateway.addUser("alice");

    const page = await openSignedIn(gateway, OPERATOR_TOKEN, "tools", { width: 390 });
    const card = page.getByRole("region", { name: "Trusted destinations" });
    await card.waitFor();
    const rows = card.getByRole("listitem");
    await expect.poll(() => rows.count()).toBe(2);
    expect(await rows.nth(0).textContent()).toContain("bank.exampleevery tool · for everybody · since");
    expect(await rows.nth(1).textContent()).toContain("https://x.example/\\u{202e}<b>pay · for you · since");
    await page.getByText("Details", { exact: true }).first().click();
    await page.getByText("Recent calls").click();
    await page.getByText(`ran after you approved it: ${SENTENCE}`).waitFor();
    await page.getByText("went to a destination that alice trusts").waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await findFaults(page)).toEqual([]);
    }
    await page.evaluate('localStorage.setItem("postern.language.operator", "de")');
    await page.reload();
    await page.getByText("Einzelheiten", { exact: true }).first().click();
    await page.getByText("Letzte Aufrufe").click();
    await page
      .getByText(
        "lief, nachdem du es erlaubt hast: pay an …: Diese Kontonummer stammt nicht von dir, sondern aus anderer Quelle: die Datei bill.txt",
      )
      .waitFor();
    await page.evaluate('localStorage.setItem("postern.language.operator", "en")');
    await page.reload();
    await card.getByRole("button", { name: /^Remove https/ }).click();
    await expect.poll(() => rows.count()).toBe(1);

    const theirs = await openPage();
    await theirs.goto(`${gateway.url}/?token=${alice}`);
    await theirs.getByRole("button", { name: "Use the link" }).click();
    await theirs.getByLabel("Message").waitFor();
    await theirs.goto(`${gateway.url}/#/tools`);
    const hers = theirs.getByRole("region", { name: "Trusted destinations" });
    await hers.getByText("bank.example").waitFor();
    expect(await hers.getByRole("button").count()).toBe(0);

    await card.getByRole("button", { name: "Remove bank.example" }).click();
    await card.getByText("There are none.").waitFor();
    expect(await destinations.list()).toEqual([]);
    expect(page.complaints).toEqual([]);
  });
});

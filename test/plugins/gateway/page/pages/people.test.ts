/** The page where an operator gives tokens out. */
import axe from "axe-core";
import { expect, test } from "vitest";
import { describeInBrowser, openPage, useBrowser } from "../../../../support/processes/browser.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../../support/services/gateway.ts";

describeInBrowser("the people page", () => {
  useBrowser();

  test("creates a token with a scope, shows it once with what to know, and says in words what it may use", async () => {
    const gateway = await openGateway({ variables: { MEMORY_VECTORS: "false" } });
    await gateway.addUser("ann");
    const page = await openPage({ width: 390 });
    await page.goto(`${gateway.url}/?token=${OPERATOR_TOKEN}`);
    await page.getByLabel("Message").waitFor();
    await page.goto(`${gateway.url}/#/people`);
    await page.getByLabel("User", { exact: true }).selectOption("ann");
    await page.getByLabel("Name of the token").fill("codex");
    await page.getByLabel("Tools it may use").selectOption("only these tools");
    await page.getByLabel("Names of the tools").fill("memory_read, weather");
    await page.getByLabel("Models it may use").fill("builtin");
    await page.getByLabel("US dollars per day").fill("5");
    await page.getByLabel("Expires in days").fill("90");
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByText("There is no tool weather here now.").waitFor();
    await page.getByText("only memory_read, weather; model builtin; $5.00 a day").waitFor();
    const token = (await page.getByText(/^postern_/).textContent()) ?? "";
    expect((await gateway.ask("/api/session", { token })).body.user.id).toBe("ann");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const copy = page.getByRole("button", { name: "Copy the token" });
    await copy.click();
    await expect.poll(() => copy.textContent()).toBe("Copied");
    await page.locator("[aria-live]").getByText("Copied.").waitFor({ state: "attached" });
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(token);

    await page.getByLabel("Name of the token").fill("shell");
    await page.getByLabel("Tools it may use").selectOption("no tools");
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByText("no tools", { exact: true }).first().waitFor();
    await expect
      .poll(async () => (await gateway.ask("/api/tokens")).body.tokens)
      .toContainEqual(
        expect.objectContaining({
          name: "shell",
          tools: [],
          models: null,
          per_day_usd: null,
          expires_at: null,
        }),
      );
    const row = page.getByRole("row").filter({ hasText: "shell" });
    const answer = async (dialog: string, yes: string, entered?: string) => {
      if (entered !== undefined) await page.getByRole("dialog").getByRole("textbox").fill(entered);
      const asks = page.getByRole(entered === undefined ? "alertdialog" : "dialog", { name: dialog });
      await asks.getByRole("button", { name: yes, exact: true }).click();
    };
    await row.getByRole("button", { name: "Change expiry" }).click();
    await answer("When does “shell” of ann expire?", "Save", "soon");
    await page.getByText("“soon” is not a number of days.").waitFor();
    await row.getByRole("button", { name: "Change expiry" }).click();
    await answer("When does “shell” of ann expire?", "Save", "30");
    await row.getByText("never", { exact: true }).nth(1).waitFor({ state: "detached" });
    await row.getByRole("button", { name: "Revoke" }).click();
    await answer("Revoke “shell” of ann?", "Revoke");
    await row.getByText("revoked").waitFor();

    await gateway.addUser("bob");
    await page.reload();
    await page.getByLabel("Role of bob").selectOption("operator");
    await expect
      .poll(async () => (await gateway.ask("/api/users")).body.users)
      .toContainEqual(expect.objectContaining({ id: "bob", role: "operator" }));
    const bob = page.getByRole("row").filter({ has: page.getByLabel("Role of bob") });
    await bob.getByRole("button", { name: "Remove with data" }).click();
    await answer("Remove bob?", "Remove with data");
    await bob.waitFor({ state: "detached" });
    await page.evaluate(axe.source);
    const { violations } = (await page.evaluate("axe.run()")) as {
      violations: { id: string; impact: string }[];
    };
    expect(violations.filter(({ impact }) => ["serious", "critical"].includes(impact))).toEqual([]);
    await page.getByRole("button", { name: "Sign out" }).last().click();
    await answer("Sign out operator in", "Sign out");
    await page.getByLabel("Token").waitFor();
  });
});

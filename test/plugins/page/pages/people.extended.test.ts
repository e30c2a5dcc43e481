/** The page where an operator gives tokens out. */
import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { findFaults } from "../../../support/processes/axe.ts";
import { describeInBrowser, openPage, openSignedIn, useBrowser } from "../../../support/processes/browser.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

describeInBrowser("the people page", () => {
  useBrowser();

  test("creates a token with a scope, shows it once with what to know, and says in words what it may use", async () => {
    const gateway = await openGateway({ variables: { MEMORY_VECTORS: "false" } });
    await gateway.addUser("ann");
    const page = await openSignedIn(gateway, OPERATOR_TOKEN, "people", { width: 390 });
    await page.getByRole("button", { name: "Create a token" }).click();
    // Nobody is chosen at first, so that a token is never the operator's by mistake.
    expect(await page.getByLabel("Whose").inputValue()).toBe("");
    await page.getByLabel("Name of the token").fill("codex");
    await page.getByRole("button", { name: "Create token" }).click();
    await page.locator("select[aria-invalid=true]:focus").waitFor();
    await page.getByLabel("Whose").selectOption("ann");
    await expect.poll(() => page.locator("[aria-invalid=true]").count()).toBe(0);
    await page.getByLabel("Tools it may use").selectOption("Only these tools");
    await page.getByLabel("Names of the tools").fill("memory_read, weather");
    await page.getByLabel("Models it may use").fill("builtin");
    await page.getByLabel("US dollars per day").fill("5");
    await page.getByLabel("Expires in days").fill("90");
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByText("There is no tool weather here now.").waitFor();
    await page.getByText("only memory_read and weather; model builtin; $5.00 a day").waitFor();
    const token = (await page.getByText(/^postern_/).textContent()) ?? "";
    expect((await gateway.ask("/api/session", { token })).body.user.id).toBe("ann");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const copy = page.getByRole("button", { name: "Copy the token" });
    // Both are there for a moment only, so they are looked for before the click.
    const shown = [
      copy.filter({ hasText: "Copied" }).waitFor(),
      page.locator("[aria-live]").getByText("Copied").waitFor({ state: "attached" }),
    ];
    await copy.click();
    await Promise.all(shown);
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(token);

    await page.getByRole("button", { name: "Create a token" }).click();
    await page.getByLabel("Whose").selectOption("ann");
    await page.getByLabel("Name of the token").fill("shell");
    await page.getByLabel("Tools it may use").selectOption("No tools");
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
    const choose = async (of: Locator, name: string) => {
      await of.getByRole("button", { name: /^Actions for/ }).click();
      await page.getByRole("menuitem", { name, exact: true }).click();
    };
    const row = page.getByRole("row").filter({ hasText: "shell" });
    const answer = async (dialog: string, yes: string, entered?: string) => {
      if (entered !== undefined) await page.getByRole("dialog").getByRole("textbox").fill(entered);
      const asks = page.getByRole(entered === undefined ? "alertdialog" : "dialog", { name: dialog });
      await asks.getByRole("button", { name: yes, exact: true }).click();
    };
    await choose(row, "Change expiry");
    await answer("When does “shell” of ann expire?", "Save", "soon");
    await page.getByText("“soon” is not a number of days.").waitFor();
    await choose(row, "Change expiry");
    await answer("When does “shell” of ann expire?", "Save", "30");
    await row.getByText("never", { exact: true }).nth(1).waitFor({ state: "detached" });
    await choose(row, "Revoke");
    await answer("Revoke “shell” of ann?", "Revoke");
    await row.getByText("revoked").waitFor();

    await gateway.addUser("bob");
    await page.reload();
    await page.getByLabel("Role of bob").selectOption("operator");
    await expect
      .poll(async () => (await gateway.ask("/api/users")).body.users)
      .toContainEqual(expect.objectContaining({ id: "bob", role: "operator" }));
    const bob = page.getByRole("row").filter({ has: page.getByLabel("Role of bob") });
    await choose(bob, "Remove with data");
    await answer("Remove bob?", "Remove with data");
    await bob.waitFor({ state: "detached" });
    expect(await findFaults(page)).toEqual([]);
    await page.getByRole("main").getByRole("button", { name: "Sign out" }).last().click();
    await answer("Sign out operator in", "Sign out");
    await page.getByLabel("Token").waitFor();
  });

  test("invites somebody by a link that asks, signs one browser in, and is used up", async () => {
    const gateway = await openGateway({ variables: { MEMORY_VECTORS: "false" } });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN, "people", { width: 390 });
    await page.getByRole("button", { name: "Invite" }).click();
    // By keyboard alone: the first field has the focus.
    await page.locator("input:focus").waitFor();
    await page.keyboard.type("not a name");
    await page.keyboard.press("Enter");
    await page.locator("input[aria-invalid=true]:focus").waitFor();
    await page.getByText("A user id must be 1 to 128 letters").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("cleo");
    await expect.poll(() => page.getByText("A user id must be").count()).toBe(0);
    await page.keyboard.press("Enter");
    const link = (await page.getByText(/\?token=postern_invite_/).textContent()) ?? "";
    await page.getByRole("button", { name: "Withdraw the invitation of cleo" }).waitFor();
    expect(await findFaults(page)).toEqual([]);

    const theirs = await openPage();
    await theirs.goto(link);
    await theirs.getByRole("heading", { name: "You are invited" }).waitFor();
    await theirs.getByText("This link signs you in as cleo.").waitFor();
    await theirs.getByRole("button", { name: "Continue" }).click();
    await theirs.getByLabel("Message").waitFor();
    await theirs.context().clearCookies();
    await theirs.goto(link);
    await theirs.getByText("This invitation was already used").waitFor();

    // The operator's page still lists it: withdrawing is refused, and nothing says that it worked.
    const withdraw = page.getByRole("button", { name: "Withdraw the invitation of cleo" });
    await withdraw.click();
    await page.getByText("There is no such invitation, or it was used already.").waitFor();
    await withdraw.waitFor({ state: "detached" });
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    expect(await page.locator(".toast").count()).toBe(0);
  });
});

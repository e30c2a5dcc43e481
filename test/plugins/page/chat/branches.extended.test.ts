/** A thread that branches, its model, and what the model thought, as people see them. */
import { expect, test } from "vitest";
import { findBarriers } from "../../../support/processes/axe.ts";
import { describeInBrowser, openSignedIn, say, useBrowser } from "../../../support/processes/browser.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

const PHONE = { width: 390, height: 844 };

describeInBrowser("on the chat page", () => {
  useBrowser();

  test("a message is edited, an answer regenerated, versions are stepped through, here and in another window", async () => {
    const model = await scriptedModel();
    const gateway = await openGateway({ model });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN);
    const box = page.getByLabel("Message");
    const button = (name: string, on = page) => on.getByRole("button", { name, exact: true });
    const say = async (text: string, answer: string) => {
      model.script({ text: answer });
      await box.fill(text);
      await page.keyboard.press("Enter");
      await page.getByText(answer, { exact: true }).waitFor();
    };
    const asked = async (on = page) => await on.locator(".asked").allInnerTexts();
    const answers = async (on = page) => await on.locator(".prose").allInnerTexts();
    const seen = () =>
      model.requests
        .at(-1)
        ?.messages.filter(({ role }) => role !== "system")
        .map(({ content }) => content);

    await say("My cat is Tom.", "Hello **Tom**.".replaceAll("*", ""));
    await say("Its name?", "Tom.");

    // An answer that was fine, once more: the first stays.
    model.script({ text: "It is Tom." });
    await button("Regenerate the answer").last().click();
    await page.getByText("It is Tom.", { exact: true }).waitFor();
    await page.getByText("2 / 2").waitFor();
    expect(await answers()).toEqual(["Hello Tom.", "It is Tom."]);
    expect(seen()).toEqual(["My cat is Tom.", "Hello Tom.", "Its name?"]);
    await button("Previous version of the answer").click();
    await page.getByText("Tom.", { exact: true }).waitFor();
    expect(await answers()).toEqual(["Hello Tom.", "Tom."]);
    // The keyboard stays there.
    const focused = () => page.evaluate("document.activeElement.getAttribute('aria-label')");
    await expect.poll(focused).toBe("Next version of the answer");

    // The first message, edited: Escape keeps the draft, Enter sends. All by keyboard.
    await button("Edit your question").first().focus();
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Edit your question" }).fill("My cat is Ada.");
    await page.keyboard.press("Escape");
    await button("Edit your question").first().click();
    model.script({ text: "Hello Ada." });
    await page.keyboard.press("Enter");
    await page.getByText("Hello Ada.", { exact: true }).waitFor();
    expect(seen()).toEqual(["My cat is Ada."]);
    expect(await asked()).toEqual(["My cat is Ada."]);
    // What is shown is what the model sees.
    await say("And now?", "Ada.");
    expect(seen()).toEqual(["My cat is Ada.", "Hello Ada.", "And now?"]);

    // Which version is shown survives a reload; another window begins with the newest.
    await button("Previous version of your question").click();
    await expect.poll(() => asked()).toEqual(["My cat is Tom.", "Its name?"]);
    const shown = await answers();
    await page.reload();
    await expect.poll(() => asked()).toEqual(["My cat is Tom.", "Its name?"]);
    expect(await answers()).toEqual(shown);
    const other = await openSignedIn(gateway, OPERATOR_TOKEN);
    await other.goto(page.url());
    await expect.poll(() => asked(other)).toEqual(["My cat is Ada.", "And now?"]);

    // A branch made there is a version more here, and takes the reader nowhere.
    await other.getByRole("button", { name: "Previous version of your question" }).click();
    await expect.poll(() => asked(other)).toEqual(["My cat is Tom.", "Its name?"]);
    model.script({ text: "Still Tom." });
    await button("Regenerate the answer", other).last().click();
    await other.getByText("Still Tom.", { exact: true }).waitFor();
    await page.getByText(/[12] \/ 3/).waitFor();
    expect(await answers()).toEqual(shown);
    expect(await findBarriers(page)).toEqual([]);
    await page.setViewportSize(PHONE);
    expect(await findBarriers(page)).toEqual([]);
    for (const small of await page.locator(".meta button").all())
      expect(Math.round((await small.boundingBox())?.height ?? 0)).toBeGreaterThanOrEqual(44);
    await Promise.all([page.close(), other.close()]);
  });

  test("a model that retires soon is named in a new chat, and a button switches to its replacement", async () => {
    const model = await scriptedModel();
    model.offer("gpt-5-mini");
    const gateway = await openGateway({ model, variables: { MODEL_NAME: "" } });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN);
    await page.getByText("gpt-5-mini is turned off by its provider on 2026-12-11.").waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole("button", { name: "Switch to gpt-6.1-terra" }).click();
    await page.getByText("is turned off by its provider").waitFor({ state: "detached" });
    await say(page, "Hi");
    await expect.poll(() => model.requests[0]?.model).toBe("gpt-6.1-terra");
    await page.close();
  });

  test("models are found by name, provider, price and retirement, by keyboard and on a phone; none only embeds", async () => {
    const model = await scriptedModel();
    model.offer("gpt-5-mini", "claude-opus-4-8", "nomic-embed-text", "home-made");
    const gateway = await openGateway({ model, variables: { MODEL_NAME: "home-made" } });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN);
    const picker = page.getByRole("button", { name: "Model of this thread: home-made (default)" });
    const options = page.getByRole("dialog", { name: "Model of this thread" }).getByRole("option");
    const names = async () =>
      (await options.allInnerTexts()).map((text) => text.replaceAll(/\s*\n\s*/g, " · "));
    await picker.focus();
    await page.keyboard.press("Enter");
    await expect.poll(names).toHaveLength(4);
    expect(await names()).toContain(
      "gpt-5-mini · openai-compatible · 400K window · $0.25 in, $2 out · retires 2026-12-11",
    );
    // The configured one is there once.
    expect((await names()).filter((name) => name.includes("home-made"))).toEqual([
      "home-made (default) · openai-compatible",
    ]);
    expect((await names()).join()).not.toContain("embed");
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      expect(await findBarriers(page)).toEqual([]);
    }
    await page.setViewportSize(PHONE);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE.width);
    await page.keyboard.type("5-mini 2026");
    await expect.poll(names).toHaveLength(1);
    await page.keyboard.press("Enter");
    const chosen = page.getByRole("button", { name: "Model of this thread: gpt-5-mini" });
    await chosen.waitFor();
    // The focus is back where it was, and the list begins at the one that is chosen.
    await expect.poll(() => chosen.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.keyboard.press("Enter");
    await page.getByRole("option", { name: "gpt-5-mini", selected: true }).waitFor();
    await page.getByRole("combobox", { name: "Search models" }).fill("nothing like it");
    await page.getByText("Nothing matches.").waitFor();
    await page.close();
  });

  test("a thread's model is picked, its name is on the answer, and what it thought is folded", async () => {
    const model = await scriptedModel();
    model.offer("scripted", "thinker");
    const gateway = await openGateway({ model });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN);
    const picker = page.getByRole("button", { name: /^Model of this thread: / });
    const pick = async (name: string) => {
      await picker.click();
      await page.getByRole("option", { name }).first().click();
    };
    await pick("thinker");
    const more = Promise.withResolvers<string>();
    model.script({ reasoning: ["First I think, ", "<b>then</b> I speak."], text: [more.promise] });
    await say(page, "Hi");
    const thoughts = page.locator("details.thoughts");
    await thoughts.getByText("Thinking…").waitFor();
    expect(await thoughts.getAttribute("open")).toBe(null);
    await thoughts.locator("summary").click();
    await thoughts.getByText("First I think, <b>then</b> I speak.").waitFor();
    more.resolve("Here I am.");
    await page.getByText("Here I am.").waitFor();
    await page.locator(".meta").getByText("thinker").waitFor();
    expect(model.requests[0]?.model).toBe("thinker");
    expect(await thoughts.locator("summary").textContent()).toMatch(/^Thought for/);
    await page.reload();
    await page.getByText("Here I am.").waitFor();
    expect(await page.locator("details.thoughts summary").textContent()).toMatch(/^Thought for/);
    expect(await page.locator(".meta").last().textContent()).toContain("thinker");
    await expect.poll(() => picker.textContent()).toBe("thinker");
    await pick("scripted (default)");
    await say(page, "Again");
    await expect.poll(() => model.requests.length).toBe(2);
    expect(model.requests[1]?.model).toBe("scripted");
    await page.getByText("ok", { exact: true }).waitFor();
    // Nothing where there is none.
    expect(await page.locator("details.thoughts").count()).toBe(1);
    expect(await findBarriers(page)).toEqual([]);
    await page.close();
  });
});

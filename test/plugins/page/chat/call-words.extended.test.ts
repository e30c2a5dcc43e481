/** Calls in words on the page: what was done and changed, in the page's language, also after a reload. */
import { expect, test } from "vitest";
import { expectNoFaults } from "../../../support/processes/axe.ts";
import { describeInBrowser, openSignedIn, say, useBrowser } from "../../../support/processes/browser.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

const call = (name: string, params: object) => ({ name: `workspace_${name}`, arguments: params });

describeInBrowser("calls in words", () => {
  useBrowser();

  test("a call says what it did with which lines, a failed one that it did not, in both languages and after a reload", async () => {
    const model = await scriptedModel();
    const gateway = await openGateway({ model, tools: {} });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN);
    model.script(
      { calls: [call("write", { path: "/notes.md", text: "# Notes\n\nThe gate is open.\n\u001b[2J\n" })] },
      {
        calls: [
          call("edit", { path: "/notes.md", old: "open", new: "shut" }),
          call("edit", { path: "/none.md", old: "open", new: "shut" }),
          call("search", { words: "gate" }),
        ],
      },
      { text: "Done." },
    );
    await say(page, "Shut it");
    await page.getByText("Done.", { exact: true }).waitFor();
    const told = async () => (await page.locator(".call > summary b").allTextContents()).toSorted();
    const english = [
      "Could not edit none.md",
      "Edited notes.md · +1 −1",
      "Searched the files for “gate” · 1 result",
      "Wrote notes.md · +4",
    ];
    expect(await told()).toEqual(english);
    await page.reload();
    await page.getByText("Done.", { exact: true }).waitFor();
    expect(await told()).toEqual(english);

    // The name of the tool stands on the line of its words, without a line of its own.
    const border = "getComputedStyle(document.querySelector('.call > summary .tool')).borderTopWidth";
    expect(await page.evaluate(border)).toBe("0px");
    await page.getByText("Edited notes.md").click();
    const changed = page.getByRole("region", { name: "What changed in /notes.md" });
    await changed.getByText("- The gate is open.").waitFor();
    expect(await changed.locator(".new").allTextContents()).toEqual(["+ The gate is shut.\n"]);
    expect(await changed.getByText("\\u{1b}[2J").count()).toBe(1);
    expect(await page.getByRole("region", { name: "What changed" }).count()).toBe(1);
    // The JSON is one click away.
    await page.locator(".call[open] .whole > summary").click();
    await page.locator(".call[open]").getByText("workspace_edit").first().waitFor();
    await expectNoFaults(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await expectNoFaults(page);
    await page.setViewportSize({ width: 390, height: 760 });
    await expectNoFaults(page);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);

    await page.evaluate('localStorage.setItem("postern.language.operator", "de")');
    await page.reload();
    await page.getByText("notes.md geändert · +1 −1").waitFor();
    await page.getByText("none.md konnte nicht geändert werden").waitFor();
    await page.getByText("Dateien nach „gate“ durchsucht · 1 Treffer").waitFor();
    expect(page.complaints).toEqual([]);
  });
});

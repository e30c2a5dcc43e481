/** Formulas in answers, drawn by the browser. */
import { expect, test } from "vitest";
import { findBarriers } from "../../../support/processes/axe.ts";
import { describeInBrowser, openSignedIn, say, useBrowser } from "../../../support/processes/browser.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

const ATTACKS = [
  "\\href{javascript:window.hacked=1}{x}",
  "\\text{</math><img src=x onerror=window.hacked=1>}",
  "\\text{<style><img src=x onerror=window.hacked=1></style>}",
  '\\text{" onmouseover="window.hacked=1}',
  "\\includegraphics{https://example.com/x.png}",
  "\\class{x}{y}",
  "\\id{app}{y}",
  "\\style{position:fixed}{y}",
  "\\data{x=y}{z}",
  "\\def\\a{\\a\\a}\\a",
  `${"{".repeat(1900)}`,
];

describeInBrowser("formulas", () => {
  useBrowser();

  test("are drawn as MathML, prices and code left alone, and bring nothing along that is no formula", async () => {
    const model = await scriptedModel();
    const gateway = await openGateway({ model, variables: { MEMORY_VECTORS: "false" } });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN, undefined, { width: 390 });
    model.script({
      text: [
        "Area $\\frac{a}{b}$ and \\(\\sqrt{x}\\) for $5 and $10, `$y$`:\n\n$$\\int_0^1 x^2 \\, dx = ",
        "\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}$$\n\n- one\n\n  ```sh\n  echo $x$ done\n  ```\n",
        `\n$$${"a_{1}+".repeat(60)}b$$\n\n[link](https://example.com/$x$) הגשר פתוח\n\nשלום, this way.\n\n| a | b |\n|:-:|--:|\n| $x$ | 2 |`,
      ],
    });
    await say(page, "Show me maths");
    await page.locator("math mfrac").waitFor();
    await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
    await expect.poll(() => page.locator("math").count()).toBe(5);
    expect(await page.locator('math[display="block"]').count()).toBe(2);
    expect(await page.locator(".prose p").first().textContent()).toContain("for $5 and $10, $y$:");
    expect(await page.locator("figure.code code").textContent()).toBe("echo $x$ done");
    expect(await page.getByRole("link", { name: "link" }).getAttribute("href")).toBe(
      "https://example.com/$x$",
    );
    expect(await page.getByText("שלום").evaluate((one) => getComputedStyle(one).direction)).toBe("rtl");
    expect(
      await page
        .locator("td")
        .last()
        .evaluate((one) => getComputedStyle(one).textAlign),
    ).toMatch(/right$/);
    expect(await findBarriers(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);

    model.script({ text: `${ATTACKS.map((tex) => `$$${tex}$$`).join("\n\n")}\n\n$z$ done` });
    await say(page, "Now attack");
    await page.getByText("done").last().waitFor();
    await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    const strange =
      "[...document.querySelectorAll('.prose math, .prose math *')].filter((one) => one.namespaceURI !== 'http://www.w3.org/1998/Math/MathML' || ['href', 'style', 'class', 'id', 'src', 'onmouseover'].some((name) => one.hasAttribute(name))).map((one) => one.outerHTML)";
    expect(await page.evaluate(strange)).toEqual([]);
    expect(await page.locator(".prose img, .prose style").count()).toBe(0);
    await page.reload();
    await page.locator("math mfrac").waitFor();
    expect(page.complaints).toEqual([]);
  });
});

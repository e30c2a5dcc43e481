/** Code in answers, coloured in a thread of its own. */
import { expect, test } from "vitest";
import { describeInBrowser, openSignedIn, say, useBrowser } from "../../../support/processes/browser.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

describeInBrowser("code", () => {
  useBrowser();

  test("is coloured, and text that takes a language's patterns long keeps the page free and stays plain", async () => {
    const model = await scriptedModel();
    const gateway = await openGateway({ model, variables: { MEMORY_VECTORS: "false" } });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN);
    // On the page's own thread this text alone would take minutes.
    const slow = "[a](".repeat(4000);
    model.script({
      text: `\`\`\`markdown\n${slow}\n\`\`\`\n\n\`\`\`ts\nconst x = "<img src=x onerror=hacked=1>";\n\`\`\`\n\nAll done`,
    });
    await say(page, "Show me code");
    await page.getByText("All done").waitFor();
    await page.locator("code .hljs-keyword").waitFor();
    expect(await page.locator("figure.code code").first().textContent()).toBe(slow);
    expect(await page.locator("figure.code code").first().locator("span").count()).toBe(0);
    expect(await page.locator("figure.code code").last().textContent()).toBe(
      'const x = "<img src=x onerror=hacked=1>";',
    );
    expect(await page.locator(".prose img").count()).toBe(0);
    expect(page.complaints).toEqual([]);
  });
});

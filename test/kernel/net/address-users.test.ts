/** Tools' requests and the webhook's callbacks once had a rule each, and the rules differed. */
import { expect, onTestFinished, test } from "vitest";
import { createNetwork } from "../../../host/broker/network.ts";
import { REFUSED_ADDRESSES } from "../../support/addresses.ts";
import { bootWebhook } from "../../support/services/webhook.ts";

test.for(REFUSED_ADDRESSES)(
  "%s is refused to tools and to callbacks for the same reason",
  async ([address]) => {
    const url = new URL(`https://${address.includes(":") ? `[${address}]` : address}/`);
    const network = createNetwork({ privateHosts: new Set() });
    onTestFinished(() => network.close());
    const sent = network.send({ url, timeoutMs: 5000, maxBytes: 1000 });
    const answer = await sent.then(
      () => "it was sent",
      (error: Error) => error.message,
    );
    const [refusal] = answer.split(
      ", which tools may not reach. An operator can except hosts in TOOLS_PRIVATE_HOSTS.",
    );
    expect(refusal).toMatch(/^\S+ is an? .+ address$/);

    const webhook = await bootWebhook({ HTTP_CALLBACK_URL: url.href });
    await webhook.post({ user_id: "ada", message: "hello" });
    await expect
      .poll(() => webhook.kernel.logged.join(""))
      .toContain(
        `HTTP_CALLBACK_URL is refused: ${refusal}. List its host:port in HTTP_CALLBACK_PRIVATE_HOSTS`,
      );
  },
);

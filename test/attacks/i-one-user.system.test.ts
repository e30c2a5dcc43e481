/** One user's token must not end the service, nor keep anybody else from it. */
import { expect } from "vitest";
import type { AnyPlugin } from "../../kernel/plugin.ts";
import { BODY_LIMITS } from "../../plugins/gateway/settings.ts";
import responses from "../../plugins/responses/plugin.ts";
import { startAttacker } from "../support/attacker.ts";
import { attack } from "../support/attacks.ts";
import { scriptedModel } from "../support/services/agent.ts";
import { openGateway } from "../support/services/gateway.ts";

const STORAGE_BYTES = 20_000_000;
const ROUNDS = 2;
/** What the attacker has to have met: the limits of bodies and of storage. */
const REFUSALS = [
  "gzip body 415",
  "nested body 400",
  "nested tools 400",
  "message 413",
  "memory 413",
  "conversation 413",
];

attack(
  1,
  "One user attacks in every way at once: another's turns complete, and what is held and kept stays within its budget",
  async () => {
    const model = await scriptedModel();
    model.otherwise({ text: "Here I am." });
    const gateway = await openGateway({
      model,
      variables: { USER_STORAGE_MB: String(STORAGE_BYTES / 1_000_000), CHAT_RATE_LIMIT: "1000" },
      plugins: [responses as AnyPlugin],
    });
    const [mallory, ann] = [await gateway.addUser("mallory"), await gateway.addUser("ann")];
    const attacker = startAttacker(gateway.url, mallory);
    const held: number[] = [];
    const turns: string[] = [];
    let thread: string | undefined;
    try {
      // Each look is at one moment: it goes on until one of them has seen a body that is held.
      const isSeen = () => attacker.hasSeen(REFUSALS, ROUNDS) && held.some((bytes) => bytes > 0);
      while (turns.length < ROUNDS || !isSeen()) {
        const chat = { message: `Are you there? ${turns.length}`, ...(thread && { thread_id: thread }) };
        const { status, body } = await gateway.ask("/api/chat", { method: "POST", token: ann, body: chat });
        thread = body.thread_id;
        turns.push(`${status} ${body.status} ${body.response}`);
        const metrics = (await gateway.ask("/metrics")).text;
        held.push(Number(/^postern_body_bytes (\d+)/m.exec(metrics)?.[1]));
      }
    } finally {
      await attacker.stop();
    }
    expect(new Set(turns)).toEqual(new Set(["200 completed Here I am."]));
    // Beside the attacker there is only one who sends short messages.
    expect(Math.max(...held)).toBeLessThan(BODY_LIMITS.callerBytes + 100_000);
    const { bytes, max_bytes } = (await gateway.ask("/api/usage", { token: mallory })).body.storage;
    expect([max_bytes, bytes <= STORAGE_BYTES]).toEqual([STORAGE_BYTES, true]);
    const seen = [...attacker.seen.keys()];
    expect(seen.filter((answer) => !/ (?:200|400|413|415|429|503)$/.test(answer))).toEqual([]);
  },
);

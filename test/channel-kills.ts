/** `npm run test:kills -- telegram --rounds 200`: kills the service while people write, and fails if a message gets no answer. */
import { parseArgs } from "node:util";
import { type ChatUnderKills, describeKills, killRounds } from "./support/processes/chat-kills.ts";
import { emailUnderKills } from "./support/services/email-kills.ts";
import { slackUnderKills } from "./support/services/slack-kills.ts";
import { telegramUnderKills } from "./support/services/telegram-kills.ts";

const CHATS: Readonly<Record<string, () => Promise<ChatUnderKills>>> = {
  telegram: telegramUnderKills,
  email: emailUnderKills,
  slack: slackUnderKills,
};

const { values, positionals } = parseArgs({
  options: { rounds: { type: "string", default: "200" } },
  allowPositionals: true,
});
const [name = ""] = positionals;
const open = CHATS[name];
if (open === undefined || !/^[1-9]\d{0,4}$/.test(values.rounds)) {
  process.stderr.write(`usage: npm run test:kills -- ${Object.keys(CHATS).join("|")} [--rounds 200]\n`);
  process.exit(2);
}
const print = (text: string) => process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`);
const counted = await killRounds(await open(), Number(values.rounds), print);
process.stdout.write(`\n${name}: ${describeKills(counted)}\n`);
process.exitCode = counted.lost.length + counted.disordered + counted.strange.length > 0 ? 1 : 0;

/** Setting a channel up and forgetting it, as the command line and the page do. */
import { Fault, type Services } from "../../kernel/plugin.ts";
import type { ChatService, OfferedChannel } from "./services.ts";

const CHECK_TIMEOUT_MS = 20_000;

type Use = Pick<Services, "messaging" | "settings">;

export function findChannel({ messaging }: Pick<Use, "messaging">, name: string): OfferedChannel {
  const offered = messaging.offered();
  const found = offered.find(({ channel }) => channel.name === name);
  if (found !== undefined) return found;
  const names = offered.map(({ channel }) => channel.name).join(", ");
  throw new Fault("missing", "channel_not_found", `There is no channel ${name}: there are ${names}.`, {
    usage: true,
  });
}

/** Asks the service who we are there, with these values in place of those in use. */
export const checkChannel = (
  { check }: OfferedChannel,
  values: Readonly<Record<string, string>>,
): ReturnType<ChatService["check"]> => check(values, AbortSignal.timeout(CHECK_TIMEOUT_MS));

/** Returns true if it was set up. What the environment sets cannot be forgotten here. */
export async function forgetChannel(use: Use, name: string, who: string): Promise<boolean> {
  const { channel } = findChannel(use, name);
  const known = await use.settings.list();
  const own = known.filter((setting) => channel.settings.some(({ name }) => name === setting.name));
  const fixed = own.filter(({ isFixed }) => isFixed).map((setting) => setting.name);
  const stored = own.filter(({ source }) => source === "stored").map((setting) => setting.name);
  await use.settings.change(Object.fromEntries(stored.map((setting) => [setting, null])), who);
  if (fixed.length > 0)
    throw new Fault(
      "invalid",
      "setting_fixed",
      `${fixed.join(", ")} ${fixed.length === 1 ? "is" : "are"} set in the environment or .env: remove ${fixed.length === 1 ? "it" : "them"} there and restart.`,
    );
  return stored.length > 0;
}

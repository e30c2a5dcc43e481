/** The channels that plugins offer: each is opened while its settings are there, and anew when they change. */
import { oneAtATime } from "../../kernel/kit/concurrency.ts";
import { Fault, type Log, Off, reason } from "../../kernel/plugin.ts";
import type { StoredSettings } from "../store/services.ts";
import type { ChannelState, Messaging, OfferedChannel } from "./services.ts";

/** A channel as the tables have it. */
export type StoredState = Omit<ChannelState, "title" | "missing">;

export interface OffersParts {
  readonly settings: StoredSettings;
  readonly open: Messaging["open"];
  states(): Promise<readonly StoredState[]>;
  readonly log: Log;
}

interface Offer extends OfferedChannel {
  missing(): string | undefined;
}

const NOTHING = { isConnected: false, detail: "", waiting: 0, dead: 0, requests: 0 };

export function createOffers({
  settings,
  open,
  states,
  log,
}: OffersParts): Pick<Messaging, "offer" | "offered" | "channels"> {
  const offers = new Map<string, Offer>();
  return {
    offered: () => [...offers.values()],
    async channels() {
      const known = new Map((await states()).map((state) => [state.name, state]));
      return [...new Set([...offers.keys(), ...known.keys()])].sort().map((name) => {
        const offer = offers.get(name);
        const missing = offer?.missing();
        const state = { ...NOTHING, name, title: offer?.channel.title ?? name, ...known.get(name) };
        return missing === undefined ? state : { ...state, isConnected: false, missing };
      });
    },
    async offer(channel, announce) {
      const { name, title, guide } = channel;
      if (offers.has(name))
        throw new Fault("config", "duplicate_channel", `Two plugins offer "${name}": remove one.`);
      const read = channel.read.bind(channel);
      const live = await settings.live(name, read);
      let close: (() => Promise<void>) | undefined;
      let isOver = false;
      const follow = oneAtATime(async () => {
        await close?.();
        close = undefined;
        const config = live.last();
        if (isOver) return;
        if (config instanceof Off) announce(new Off(`${config.why}: run "postern channel add ${name}"`));
        else close = await open(await channel.create(config, announce));
      });
      const unfollow = live.onChange(() => {
        void follow().catch((error) => log.error({ error }, `${name} was not opened: ${reason(error)}`));
      });
      offers.set(name, {
        channel: { name, title, guide, settings: channel.settings },
        missing() {
          const config = live.last();
          return config instanceof Off ? config.why : undefined;
        },
        async check(values, signal) {
          const config = await settings.preview(name, read, values);
          if (config instanceof Off)
            throw new Fault("invalid", "channel_not_set_up", `${title} is not set up: ${config.why}.`);
          return await (await channel.create(config, () => {})).check(signal);
        },
      });
      await follow();
      return async () => {
        unfollow();
        offers.delete(name);
        isOver = true;
        await follow();
      };
    },
  };
}

/** The client of a service that runs elsewhere: what the terminal and commands use, over the HTTP API and the socket of its gateway. */
import { createOutbound } from "../../kernel/kit/outbound.ts";
import { type AnyPlugin, definePlugin, type Services } from "../../kernel/plugin.ts";
import { type ServiceAddress, tokenRefused } from "./address.ts";
import {
  createConversations,
  createJobControl,
  createRoutineControl,
  createTaskControl,
} from "./commands.ts";
import { createEvents } from "./events.ts";
import { createRequests } from "./requests.ts";
import { createTerminal } from "./terminal.ts";

export function createClient(service: ServiceAddress): readonly AnyPlugin[] {
  function connect({ mask }: Services["kernel"], onStop: (undo: () => void | Promise<void>) => void) {
    const outbound = createOutbound({ privateHosts: "any" });
    onStop(() => outbound.close());
    const events = createEvents(service, mask);
    onStop(() => events.close());
    const refused = (origin: string) => tokenRefused(service, origin);
    return { events, requests: createRequests(events.place, outbound, refused) };
  }

  // A command sends a request or two; only a turn needs the socket.
  const commands = definePlugin({
    name: "client",
    needs: ["kernel"],
    provides: ["conversations", "jobControl", "taskControl", "routineControl"],
    configure: () => ({}),
    start({ use: { kernel }, onStop }) {
      const { requests, events } = connect(kernel, onStop);
      return {
        conversations: createConversations(requests, events),
        jobControl: createJobControl(requests),
        taskControl: createTaskControl(requests),
        routineControl: createRoutineControl(requests),
      };
    },
  });
  const terminal = definePlugin({
    name: "terminal",
    needs: ["kernel"],
    provides: ["terminal"],
    configure: () => ({}),
    async start({ use: { kernel }, onStop, announce, tell }) {
      const { requests, events } = connect(kernel, onStop);
      const user = await events.open();
      const { origin: url } = events.place();
      const { command } = service;
      const joined = { url, command, problem: events.problem };
      const opened = await createTerminal(requests, events, joined);
      announce(url);
      const other = opened.version === kernel.version ? "" : `, this terminal is ${kernel.version}`;
      tell(`Joined Postern ${opened.version}${other} as ${user.name ?? user.id} at ${url}`);
      return { terminal: opened };
    },
  });
  return [commands, terminal] as readonly AnyPlugin[];
}

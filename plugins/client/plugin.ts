/** A client of a service that runs elsewhere: it provides what the terminal UI uses over the HTTP API and the socket of its gateway. */
import { createOutbound } from "../../kernel/kit/outbound.ts";
import { definePlugin } from "../../kernel/plugin.ts";
import { type ServiceAddress, tokenRefused } from "./address.ts";
import { createEvents } from "./events.ts";
import { createRemoteServices, lookAt, OFFERED } from "./remote-services.ts";
import { createRequests } from "./requests.ts";

export function createClient(service: ServiceAddress) {
  return definePlugin({
    name: "client",
    needs: ["kernel"],
    provides: [...OFFERED, "remote"],
    configure: () => ({}),
    async start({ use: { kernel }, onStop, announce, tell }) {
      const outbound = createOutbound({ privateHosts: "any" });
      onStop(() => outbound.close());
      const events = createEvents(service, kernel.mask);
      onStop(() => events.close());
      const refused = (origin: string) => tokenRefused(service, origin);
      const requests = createRequests(events.place, outbound, refused);
      const { command } = service;
      const { problem } = events;
      // A command sends a request or two; only a turn needs the socket.
      if (!kernel.stays) {
        const { remote, ...services } = createRemoteServices(requests, events);
        return { ...services, remote: { ...remote, command, problem, url: "", version: "" } };
      }
      const user = await events.open();
      const seen = await lookAt(requests);
      const { remote, ...services } = createRemoteServices(requests, events, seen);
      const { origin: url } = events.place();
      const { version } = seen.status;
      announce(url);
      const other = version === kernel.version ? "" : `, this terminal is ${kernel.version}`;
      tell(`Joined Postern ${version}${other} as ${user.name ?? user.id} at ${url}`);
      return { ...services, remote: { ...remote, command, problem, url, version } };
    },
  });
}

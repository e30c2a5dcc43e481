/** The web gateway: HTTP, WebSocket, sign-in and the browser page. Offers `web` to plugins that mount routes. */
import { definePlugin } from "../../kernel/plugin.ts";
import { NEEDS, readSettings, WANTS } from "./settings.ts";

// The server's code is read when the gateway starts: whoever starts before it does not wait for it.
export default definePlugin({
  name: "gateway",
  kind: "channel",
  needs: NEEDS,
  wants: WANTS,
  provides: ["web"],
  commands: [
    {
      name: "user",
      about:
        "add, list, change and remove the people who may use this Postern, and pair webhook identities with them",
      example: "postern user add ann",
      load: async () => {
        const [{ registerUser, registerUserChanges }, { registerPairing }] = await Promise.all([
          import("./auth/commands.ts"),
          import("./auth/pairing.ts"),
        ]);
        return (group, context) => {
          registerUser(group, context);
          registerUserChanges(group, context);
          registerPairing(group, context);
        };
      },
    },
    {
      name: "token",
      about: "create, list, change and revoke people's tokens",
      example: "postern token create ann --name laptop",
      load: async () => (await import("./auth/tokens/commands.ts")).registerToken,
    },
    {
      name: "session",
      about: "list the browsers that are signed in, and sign them out",
      example: "postern session list",
      load: async () => (await import("./auth/commands.ts")).registerSession,
    },
  ],
  configure: readSettings,
  diagnose: async (context) => (await import("./diagnosis.ts")).diagnose(context),
  start: async (context) => (await import("./gateway.ts")).openGateway(context),
});

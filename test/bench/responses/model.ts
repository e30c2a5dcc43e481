/** The scripted model in a process of its own, so that what it costs falls neither on the callers nor on the service. */
import { type ModelReply, startModelServer } from "../../support/servers/model-server.ts";

const model = await startModelServer();
process.on("message", (answer) => {
  model.otherwise(answer as ModelReply);
  process.send?.({});
});
process.on("disconnect", () => process.exit());
process.send?.({ url: model.url });

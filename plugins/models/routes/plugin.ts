/** The API of model tests. */
import { definePlugin } from "../../../kernel/plugin.ts";

export default definePlugin({
  name: "models-routes",
  kind: "part",
  needs: ["store", "web"],
  wants: ["modelCheck"],
  configure: () => ({}),
  async start({ use, onStop }) {
    const { MODEL_TESTS, modelTestRoutes } = await import("./model-tests.ts");
    const testLimit = use.store.limiter({ name: "model-test", windows: [MODEL_TESTS], isKept: false });
    onStop(() => testLimit.close());
    onStop(use.web.mount(modelTestRoutes(use.modelCheck, testLimit)));
  },
});

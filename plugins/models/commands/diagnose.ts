/** For `postern doctor`: does the configured model's server answer, and does it take our key? */
import { type Finding, reason } from "../../../kernel/plugin.ts";
import { endpointOf, type ModelChoice } from "../choice/choose.ts";
import { askModels } from "../providers/offered.ts";

export async function diagnoseModel(choice: ModelChoice): Promise<readonly Finding[]> {
  if (choice.provider === "builtin")
    return [finding(true, "the built-in model answers: MODEL_PROVIDER is builtin")];
  const endpoint = endpointOf(choice);
  if (endpoint === undefined)
    return [finding(true, "no model is configured: a local Ollama server or the built-in model will answer")];
  const { baseUrl: url } = endpoint;
  try {
    const response = await askModels(endpoint);
    if (response.status === 401 || response.status === 403)
      return [finding(false, `${url} rejected the key (${response.status}): check the API key`)];
    return response.status >= 500
      ? [finding(false, `${url} returned ${response.status}: the server is up but failing`)]
      : [finding(true, `${url} answers`)];
  } catch (error) {
    const why = error instanceof Error && error.cause !== undefined ? reason(error.cause) : reason(error);
    return [finding(false, `${url} cannot be reached (${why}): start its server, or check MODEL_BASE_URL`)];
  }
}

function finding(ok: boolean, detail: string): Finding {
  return { name: "model", ok, detail };
}

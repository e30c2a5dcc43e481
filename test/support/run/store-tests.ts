/** Which tests run a second time on PostgreSQL. */

/** Starts a whole service in its own process: what holds on SQLite has to hold on PostgreSQL. */
export const bootsService = (file: string, text: string): boolean =>
  file.startsWith("test/plugins/") &&
  /from "[./]+\/support\/services\/(?:kernel|agent|office|gateway|responses|webhook)\.ts"/.test(text);

/** Why a file asks the store for nothing that another does not ask it for: `npm run test:postgres` alone runs them. */
const OF_SOMETHING_ELSE: Readonly<Record<string, string>> = {
  "accounts/diagnosis": "settings",
  "agent/models/chat-completions/body": "request bodies",
  "agent/models/chat-completions/dialect": "models",
  "agent/models/diagnose": "models",
  "agent/models/packages/openai": "models",
  "agent/models/provider": "models",
  "agent/models/retry": "models",
  "agent/turn/format": "what a model is asked for",
  "gateway/diagnosis": "settings",
  "gateway/middleware/body": "request bodies",
  "gateway/odd-requests": "HTTP",
  "gateway/readme": "a page",
  "gateway/reverse-proxy": "HTTP",
  "gateway/routes/status": "what is on",
  "gateway/routes/tools/mcp-servers": "tools, which a plugin of the test's keeps",
  "gateway/routes/tools/tool-admin": "tools, which a plugin of the test's keeps",
  "gateway/socket/socket": "how events are sent",
  "gateway/socket/sockets": "how many sockets there may be",
  "http-answers": "HTTP",
  "mcp/elicitation": "a client's questions; threads and gates are those of the agent",
  "mcp/doubts": "what a host is asked",
  "mcp/http": "HTTP",
  "mcp/offers": "the protocol; turns, skills and memory are those of the agent",
  "responses/completions/attachments": "request bodies",
  "responses/completions/failure": "the shape of answers",
  "responses/completions/openai-client": "the client's requests, which other files send too",
  "responses/completions/settings": "request bodies",
  "responses/completions/vercel-client": "the client's requests, which other files send too",
  "responses/openai-client": "the client's requests, which other files send too",
  "responses/openapi": "the shape of answers",
  "responses/random": "request bodies",
  "responses/request": "request bodies",
  "responses/resources/socket": "how events are sent",
  "responses/stream": "how events are sent",
  "responses/vercel-client": "the client's requests, which other files send too",
  "webhook/body": "request bodies",
  "webhook/fuzz": "request bodies",
  "webhook/load": "this process's memory",
  "webhook/plugin": "settings",
};

export const isOfSomethingElse = (file: string): boolean =>
  file.replace(/^test\/plugins\/|\.test\.ts$/g, "") in OF_SOMETHING_ELSE;

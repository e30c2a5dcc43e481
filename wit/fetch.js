/**
 * Lets `fetch` reject with the reason, and its response say where it came from; bundled in by `postern tool build` where a
 * tool uses it. The engine hides what went wrong behind one sentence and knows of no redirects, so the host is asked to say
 * both in headers, which it takes from nobody else.
 */
const send = globalThis.fetch;

// The name keeps its frame out of stack traces: what is wrong is at the author's line.
globalThis.fetch = async function posternFetch(input, init) {
  const request = new Request(input, init);
  request.headers.set("postern-wants-reason", "yes");
  const response = await send(request);
  const reason = response.headers.get("postern-reason");
  if (reason !== null) throw new TypeError(decodeURIComponent(reason));
  const url = response.headers.get("postern-url");
  if (url !== null) Object.defineProperties(response, { url: { value: url }, redirected: { value: true } });
  return response;
};

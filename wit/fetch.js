/**
 * Lets `fetch` reject with the reason; bundled in by `postern tool build` where a tool uses it. The engine hides what
 * went wrong behind one sentence, so the host is asked to say it in a header, which it takes from nobody else.
 */
const send = globalThis.fetch;

// The name keeps its frame out of stack traces: what is wrong is at the author's line.
globalThis.fetch = async function posternFetch(input, init) {
  const request = new Request(input, init);
  request.headers.set("postern-wants-reason", "yes");
  const response = await send(request);
  const reason = response.headers.get("postern-reason");
  if (reason !== null) throw new TypeError(decodeURIComponent(reason));
  return response;
};

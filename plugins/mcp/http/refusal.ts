/** A refusal before any server has seen the request, in the protocol's form. */
export function refusal(status: number, message: string, code = -32_000): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}

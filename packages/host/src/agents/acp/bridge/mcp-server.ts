/** One MCP server per request: nothing is kept between two, so an agent may connect as often as it likes. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { ServerNotification, ServerRequest, Tool } from '@modelcontextprotocol/sdk/types.js';
import { BRIDGE_PROGRESS_EVERY_MS } from '../limits.js';
import { type BridgedTools, callForAgent } from './tools.js';

export type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse; readonly body: unknown };
type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

async function loadSdk() {
  const [{ Server }, { StreamableHTTPServerTransport }, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/index.js'),
    import('@modelcontextprotocol/sdk/server/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  const { CallToolRequestSchema, ListToolsRequestSchema } = types;
  return { Server, StreamableHTTPServerTransport, CallToolRequestSchema, ListToolsRequestSchema };
}

export async function answerExchange(exchange: Exchange, tools: BridgedTools, list: () => Tool[]): Promise<void> {
  const { request, response, body } = exchange;
  const sdk = await loadSdk();
  const server = new sdk.Server({ name: 'atrium', version: '0.1.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(sdk.ListToolsRequestSchema, () => ({ tools: list() }));
  server.setRequestHandler(sdk.CallToolRequestSchema, async ({ params }, extra) => {
    const stop = keepPatient(extra);
    return callForAgent(tools, params.name, params.arguments).finally(stop);
  });
  const transport = new sdk.StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.once('close', () => void server.close());
  // The SDK's own transport does not fit its own interface when optional members are taken exactly.
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  await transport.handleRequest(request, response, body);
}

/** A person may take long to agree. An agent that asked to hear of progress does not give up meanwhile. */
function keepPatient({ _meta, sendNotification }: Extra): () => void {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let progress = 0;
  const timer = setInterval(() => {
    progress += 1;
    sendNotification({ method: 'notifications/progress', params: { progressToken, progress } }).catch(() => {});
  }, BRIDGE_PROGRESS_EVERY_MS);
  return () => clearInterval(timer);
}

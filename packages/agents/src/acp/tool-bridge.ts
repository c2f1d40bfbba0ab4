/**
 * Lends the host's tools to an agent that takes them from MCP servers: a small HTTP server on this machine, with a
 * token that only this session's agent gets.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { McpServer } from '@agentclientprotocol/sdk';
import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import { digestOf, matchesToken, newToken } from '@atrium/core/util/secrets.js';
import type { ToolDefinition } from '@atrium/protocol/ahp-1';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { CallToolResult, ServerNotification, ServerRequest, Tool } from '@modelcontextprotocol/sdk/types.js';
import { failedResult, mcpResult } from '../shared/tool-results.js';
import type { CallFields } from './tool-calls.js';

/** Longest body of one request. */
export const BRIDGE_BODY_MAX_BYTES = 8 * 2 ** 20;
/** How often an agent that waits for a tool gets a progress message, so that it does not give up. */
const BRIDGE_PROGRESS_EVERY_MS = 10_000;

const BRIDGE_NAME = 'atrium';
const PATH = '/mcp';

export class ToolBridge {
  readonly #tools: BridgedTools;
  readonly #token = newToken();
  readonly #server: Server;
  /** The last list of tools, for an agent that asks between turns. */
  #known: Tool[] = [];

  private constructor(tools: BridgedTools) {
    this.#tools = tools;
    const expected = digestOf(this.#token);
    this.#server = createServer((request, response) => {
      const [scheme, offered = ''] = (request.headers.authorization ?? '').split(' ');
      if (scheme !== 'Bearer' || !matchesToken(offered, expected)) return refuse(response, 401);
      if (request.url !== PATH) return refuse(response, 404);
      // The server offers no stream of events.
      if (request.method !== 'POST') return refuse(response, 405);
      this.#answer(request, response).catch(() => {
        if (!response.headersSent) refuse(response, 500);
      });
    });
  }

  static async start(tools: BridgedTools): Promise<ToolBridge> {
    const bridge = new ToolBridge(tools);
    const server = bridge.#server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    return bridge;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The server's description for an agent that reaches it at this port of its own machine. */
  addressAt(port: number): McpServer {
    const headers = [{ name: 'Authorization', value: `Bearer ${this.#token}` }];
    return { type: 'http', name: BRIDGE_NAME, url: `http://127.0.0.1:${port}${PATH}`, headers };
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    if (body === undefined) return refuse(response, 413);
    await answerExchange({ request, response, body }, this.#tools, () => this.#list());
  }

  #list(): Tool[] {
    const turn = this.#tools.turn();
    if (turn) this.#known = turn.tools().map(mcpTool);
    return this.#known;
  }
}

/** The body as JSON; undefined when it is too long. The SDK refuses anything else that is not JSON. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BRIDGE_BODY_MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return null;
  }
}

/** Refuses a request, and closes the connection, so that the client cannot go on sending a body. */
function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'Cache-Control': 'no-store', Connection: 'close', 'Content-Length': 0 }).end();
}

/** The source of the tools: the running turn. Between turns there is none. */
interface BridgedTools {
  turn(): AgentTurn | undefined;
}

function mcpTool({ name, title, description, inputSchema }: ToolDefinition): Tool {
  return {
    name,
    inputSchema: { ...inputSchema, type: 'object' } as Tool['inputSchema'],
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
  };
}

async function callForAgent({ turn }: BridgedTools, name: string, input: unknown): Promise<CallToolResult> {
  const active = turn();
  if (!active) return failedResult('No turn is running, so no tool can be used.');
  return mcpResult(await active.callTool({ name, input: input ?? {} }));
}

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse; readonly body: unknown };
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

/**
 * Answers one request with an MCP server of its own, and keeps nothing afterwards, so an agent may connect as often as
 * it likes.
 */
async function answerExchange(exchange: Exchange, tools: BridgedTools, list: () => Tool[]): Promise<void> {
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
  // With exact optional members, the SDK's transport does not match the SDK's own interface.
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  await transport.handleRequest(request, response, body);
}

/** Reports progress to an agent that asked for it, because a person may take long to agree. */
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

/** The kinds that agents assign to tools of MCP servers. */
const KINDS: ReadonlySet<string | undefined> = new Set([undefined, 'other']);

/**
 * True when a call that the agent reports is one of the host's tools. The host itself shows and confirms those, so the
 * report is ignored. Compares the full names of server and tool; an agent that has named both may later name the tool
 * alone.
 */
export function isBridgedCall(fields: CallFields, tools: readonly string[], wasBridged = false): boolean {
  const { title, name, kind } = fields;
  if (!KINDS.has(kind)) return false;
  const written = [title, name].flatMap((text) => text ?? []);
  const isNamed = (tool: string) =>
    (wasBridged && title === tool) || writings(tool).some((way) => written.includes(way));
  return tools.some(isNamed);
}

/** The ways in which agents write the names of server and tool. */
function writings(tool: string): string[] {
  const joined = ['__', '/', '-', '_', ':', '.'].map((mark) => `${BRIDGE_NAME}${mark}${tool}`);
  return [
    ...joined,
    `mcp__${BRIDGE_NAME}__${tool}`,
    `Tool: ${BRIDGE_NAME}/${tool}`,
    `mcp.${BRIDGE_NAME}.${tool}`,
    `${tool} (${BRIDGE_NAME} MCP Server)`,
  ];
}

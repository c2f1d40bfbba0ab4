/**
 * Lends the host's tools to an agent that takes them from MCP servers: a small server on this machine only, behind a
 * token that nobody but the agent of this session is given.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { McpServer } from '@agentclientprotocol/sdk';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { digestOf, matchesToken, newToken } from '../../../core/util/token.js';
import { answerNothing } from '../../../server/static-files.js';
import { BRIDGE_BODY_MAX_BYTES } from '../limits.js';
import { answerExchange } from './mcp-server.js';
import { type BridgedTools, mcpTool } from './tools.js';

export const BRIDGE_NAME = 'atrium';
const PATH = '/mcp';

export class ToolBridge {
  readonly #tools: BridgedTools;
  readonly #token = newToken();
  readonly #server: Server;
  /** As an agent last saw them, for one that asks between two turns. */
  #known: Tool[] = [];

  private constructor(tools: BridgedTools) {
    this.#tools = tools;
    const expected = digestOf(this.#token);
    this.#server = createServer((request, response) => {
      const [scheme, offered = ''] = (request.headers.authorization ?? '').split(' ');
      if (scheme !== 'Bearer' || !matchesToken(offered, expected)) return answerNothing(response, 401);
      if (request.url !== PATH) return answerNothing(response, 404);
      // There is nothing to listen to between two requests.
      if (request.method !== 'POST') return answerNothing(response, 405);
      this.#answer(request, response).catch(() => {
        if (!response.headersSent) answerNothing(response, 500);
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

  /** As the agent is told of it. */
  get address(): McpServer {
    const { port } = this.#server.address() as AddressInfo;
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
    if (body === undefined) return answerNothing(response, 413);
    await answerExchange({ request, response, body }, this.#tools, () => this.#list());
  }

  #list(): Tool[] {
    const turn = this.#tools.turn();
    if (turn) this.#known = turn.tools().map(mcpTool);
    return this.#known;
  }
}

/** The body as JSON; undefined when it is too long. What is no JSON is for the SDK to refuse. */
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

/** A real MCP server on loopback, over streamable HTTP or the older pair of a stream and posts, that can ask for a token. */
import { randomUUID } from 'node:crypto';
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  ListRootsResultSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { McpServerConfig } from '../../src/plugins/formats/mcp-declarations.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => boolean;

export class McpHttpServer {
  readonly requests: {
    readonly method: string;
    readonly path: string;
    readonly headers: IncomingMessage['headers'];
  }[] = [];
  /** Has a look at every request first; true when it answered. */
  intercept: Answer = () => false;
  /** Calls of `wait` that are running or were, and why some were cancelled. */
  waiting = 0;
  readonly cancelled: string[] = [];
  /** The tools that were run, in their order. */
  readonly ran: string[] = [];
  /** Ends the calls of `hold`, which wait for it. */
  release: () => void = () => {};
  readonly #http: HttpServer;
  readonly #modern = new Map<string, StreamableHTTPServerTransport>();
  readonly #older = new Map<string, SSEServerTransport>();

  private constructor() {
    this.#http = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  /** Outside the range from which the system gives out ports: no other program takes it between two starts. */
  static async start(port = 20_000 + Math.floor(Math.random() * 10_000)): Promise<McpHttpServer> {
    const server = new McpHttpServer();
    await new Promise<void>((resolve, reject) => {
      server.#http.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    return server;
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  config(transport: 'http' | 'sse' = 'http', headers: Record<string, string> = {}): McpServerConfig {
    return { transport, url: `${this.origin}/${transport === 'http' ? 'mcp' : 'sse'}`, headers };
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#http.close(resolve));
    this.#http.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.origin);
    this.requests.push({ method: request.method ?? '', path: pathname, headers: request.headers });
    if (this.intercept(request, response)) return;
    if (pathname === '/mcp') return this.#serveModern(request, response);
    if (pathname === '/sse' && request.method === 'GET') return this.#openOlder(response);
    const older = this.#older.get(searchParams.get('sessionId') ?? '');
    if (pathname === '/messages' && older) return older.handlePostMessage(request, response);
    response.writeHead(404).end();
  }

  async #serveModern(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const session = request.headers['mcp-session-id'];
    const known = typeof session === 'string' ? this.#modern.get(session) : undefined;
    if (session !== undefined && !known) return void response.writeHead(404).end();
    await (known ?? (await this.#openModern())).handleRequest(request, response);
  }

  async #openModern(): Promise<StreamableHTTPServerTransport> {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void this.#modern.set(id, transport),
    });
    await this.#talk(transport as Transport);
    return transport;
  }

  async #openOlder(response: ServerResponse): Promise<void> {
    const transport = new SSEServerTransport('/messages', response);
    this.#older.set(transport.sessionId, transport);
    await this.#talk(transport);
  }

  async #talk(transport: Transport): Promise<void> {
    const server = new Server({ name: 'remote', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } });
    const tools = ['echo', 'wait', 'hold', 'grow', 'big', 'roots'].map((name) => ({
      name,
      inputSchema: { type: 'object' as const },
    }));
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
    server.setRequestHandler(
      CallToolRequestSchema,
      async ({ params: { name, arguments: input } }, { signal, sendRequest }) => {
        this.ran.push(name);
        if (name === 'roots') {
          const { roots } = await sendRequest({ method: 'roots/list' }, ListRootsResultSchema);
          return { content: [{ type: 'text', text: roots.map(({ uri }) => uri).join(' ') }] };
        }
        if (name === 'hold') {
          await new Promise<void>((resolve) => {
            this.release = resolve;
          });
        }
        if (name === 'wait') {
          const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
          this.waiting += 1;
          await aborted;
          this.cancelled.push(String(signal.reason));
        }
        if (name === 'grow') {
          tools.push({ name: 'grown', inputSchema: { type: 'object' } });
          await server.sendToolListChanged();
        }
        const text = name === 'big' ? 'x'.repeat(Number(input?.size)) : JSON.stringify(input ?? {});
        return { content: [{ type: 'text', text }] };
      },
    );
    await server.connect(transport);
  }
}

export function json(response: ServerResponse, value: unknown, status = 200): true {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  return true;
}

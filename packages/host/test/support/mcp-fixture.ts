/** Real MCP servers as a session would have them, with everything that happened written down. */
import { readFileSync } from 'node:fs';
import type { HostTool, ToolContext, ToolOutput } from '@atrium/core/contracts/tool.js';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { expect } from 'vitest';
import { programFile } from '../../../../test/support/programs.js';
import type { McpServerConfig } from '../../src/plugins/formats/mcp-declarations.js';
import { McpServer, type McpServerOptions, type McpServerState } from '../../src/plugins/mcp/mcp-server.js';

const PROGRAM = programFile('mcp-server');

/** Starting a process takes long on a busy machine. */
export const POLL = { timeout: 20_000, interval: 5 };

/** A server process of a kind; the kinds are in its program. */
export function processConfig(kind: string, file = '', env: Record<string, string | null> = {}): McpServerConfig {
  return { transport: 'stdio', command: process.execPath, args: [PROGRAM, kind, file], env };
}

export class McpFixture {
  readonly logged: string[] = [];
  readonly #servers: McpServer[] = [];

  readonly logger: Logger = {
    log: (level, message, fields) => this.logged.push(`${level} ${message} ${JSON.stringify(fields)}`),
  };

  /** A server that is stopped when the fixture is closed. */
  server(config: McpServerConfig, options: Partial<McpServerOptions> = {}, clock: Clock = systemClock): Watched {
    const states: McpServerState[] = [];
    const server: McpServer = new McpServer({
      ...{ id: 'mcp:test', name: 'test', config, clock, logger: this.logger },
      changed: () => states.push(server.state),
      ...options,
    });
    this.#servers.push(server);
    return { server, states };
  }

  async ready(config: McpServerConfig, options: Partial<McpServerOptions> = {}): Promise<Watched> {
    const watched = this.server(config, options);
    watched.server.start();
    await inState(watched.server, 'ready');
    return watched;
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.splice(0).map((server) => server.stop()));
  }
}

export interface Watched {
  readonly server: McpServer;
  /** The state at every change. */
  readonly states: McpServerState[];
}

/** Waits for a state, in real time. */
export async function inState<Kind extends McpServerState['kind']>(
  server: McpServer,
  kind: Kind,
): Promise<Extract<McpServerState, { kind: Kind }>> {
  await expect.poll(() => server.state.kind, POLL).toBe(kind);
  return server.state as Extract<McpServerState, { kind: Kind }>;
}

/** A process that was killed but not yet taken off the table by its parent does not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

export function toolOf(server: McpServer, name: string): HostTool {
  const found = server.tools.find(({ callMeta }) => Object.entries(callMeta?.mcp ?? {}).some(isTool(name)));
  if (!found) throw new Error(`there is no tool ${name}`);
  return found;
}

function isTool(name: string): (member: [string, unknown]) => boolean {
  return ([key, value]) => key === 'tool' && value === name;
}

/** Runs a tool as a tool call of the host does. */
export function call(
  server: McpServer,
  name: string,
  input: unknown = {},
  context: Partial<ToolContext> = {},
): Promise<ToolOutput> {
  const { signal } = new AbortController();
  return toolOf(server, name).run(input, { cwd: undefined, signal, progress: () => {}, ...context });
}

export function textOf({ content }: ToolOutput): string {
  return content.map((block) => ('text' in block ? block.text : '')).join('');
}

/** All MCP servers of one session. A failure of one does not affect the others. */

import type { HostTool } from '@atrium/core/contracts/tool.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type { TokenGrant } from '@atrium/core/util/token-grant.js';
import { MCP_SERVERS_MAX } from './limits.js';
import type { McpAuthRequired } from './mcp-link.js';
import { McpServer, type McpServerOptions } from './mcp-server.js';
import { modelToolName } from './tool-list.js';

export type McpServersOptions = Pick<McpServerOptions, 'clock' | 'folder' | 'env' | 'people' | 'roots'> & {
  readonly logger: Logger;
  /** A server's state or tools have changed. */
  changed(server: McpServer): void;
  /** A call of a server needs a token with more rights. */
  callRefused?(server: McpServer, requirement: McpAuthRequired): void;
};

export type McpDeclaration = Pick<McpServerOptions, 'id' | 'name' | 'plugin' | 'isOfUser' | 'config'>;

/** Why a server was not added. */
type McpRefusal = 'name-taken' | 'too-many';

export class McpServers {
  readonly #options: McpServersOptions;
  /** By the prefix of their tools' names, in the order in which they were added. */
  readonly #servers = new Map<string, McpServer>();
  /** Removed servers by id, until nothing of them is left. */
  readonly #ending = new Map<string, Promise<void>>();

  constructor(options: McpServersOptions) {
    this.#options = options;
  }

  get all(): readonly McpServer[] {
    return [...this.#servers.values()];
  }

  /** The tools that can be called now. */
  get tools(): readonly HostTool[] {
    return this.all.flatMap(({ tools }) => tools);
  }

  get(id: string): McpServer | undefined {
    return this.all.find((server) => server.id === id);
  }

  /** Adds a server without starting it. Of two with one name, the first stays. */
  add(declaration: McpDeclaration): McpServer | McpRefusal {
    const key = serverKey(declaration);
    const refusal = this.#servers.has(key)
      ? 'name-taken'
      : this.#servers.size >= MCP_SERVERS_MAX
        ? 'too-many'
        : undefined;
    if (refusal) {
      this.#options.logger.log('warn', 'An MCP server is left out', { server: declaration.name, reason: refusal });
      return refusal;
    }
    const { changed, callRefused, ...shared } = this.#options;
    const after = this.#ending.get(declaration.id);
    const server: McpServer = new McpServer({
      ...{ ...shared, ...declaration, after, changed: () => changed(server) },
      callRefused: (requirement) => callRefused?.(server, requirement),
    });
    this.#servers.set(key, server);
    return server;
  }

  /** Stops and forgets a server. Meanwhile another one with its id may be added, which starts when this one is gone. */
  async remove(id: string): Promise<void> {
    const removed = [...this.#servers].filter(([, server]) => server.id === id);
    for (const [key] of removed) this.#servers.delete(key);
    const gone = Promise.all([this.#ending.get(id), ...removed.map(([, server]) => server.stop())]).then(() => {});
    this.#ending.set(id, gone);
    await gone;
    if (this.#ending.get(id) === gone) this.#ending.delete(id);
  }

  /** Passes a token to the servers that asked for this resource; returns whether any did. */
  authenticate(resource: string, grant: TokenGrant): boolean {
    const asking = this.all.filter((server) => server.resource === resource);
    return asking.map((server) => server.authenticate(grant)).includes(true);
  }

  /** Stops all servers, and resolves when none of their processes is left. */
  async stop(): Promise<void> {
    await Promise.all([...this.all.map((server) => server.stop()), ...this.#ending.values()]);
  }
}

/** The key of a server; servers with the same key would have tools with the same names. */
export function serverKey(declaration: Pick<McpDeclaration, 'name' | 'plugin'>): string {
  return modelToolName(declaration, '');
}

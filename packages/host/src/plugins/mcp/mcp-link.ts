/**
 * A link to a server: the streams of a process that the host started, or requests to an address. The SDK runs on both.
 */
import type { ProtectedResourceMetadata } from '@atrium/protocol/ahp-1';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

export interface Link {
  readonly transport: Transport;
  /** Whether the link has ended. */
  readonly isOver: boolean;
  /** Resolves with the reason of its end when no process or connection of it is left. Never rejects. */
  readonly ended: Promise<LinkEnd>;
  /** Forbids new requests, for this reason. Requests under way still get their answers. */
  lapse?(reason: McpAuthRequired): void;
  /** Ends the link, and resolves when no process or connection of it is left. */
  close(): Promise<void>;
}

export type LinkEnd = { readonly kind: 'lost'; readonly message: string } | McpAuthRequired;

export function lost(message: string): LinkEnd {
  return { kind: 'lost', message };
}

/** The server wants a person to sign in. */
export interface McpAuthRequired {
  readonly kind: 'authRequired';
  readonly resource: ProtectedResourceMetadata;
  /**
   * `expired`: the server no longer accepts the present token. `insufficientScope`: it accepts the token, but not for
   * this.
   */
  readonly reason: 'required' | 'expired' | 'insufficientScope';
  readonly requiredScopes?: string[];
  readonly message?: string;
}

/** The server answered one request with 401 or 403, so it did nothing of the request. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';

  constructor(readonly requirement: Promise<McpAuthRequired>) {
    super('The server needs you to sign in.');
  }
}

/** The official SDK, loaded when the first server starts: a host without MCP servers does not pay for it. */
export type Sdk = Awaited<ReturnType<typeof loadSdk>>;

export async function loadSdk() {
  const [{ Client }, stdio, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/shared/stdio.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  const { deserializeMessage, serializeMessage } = stdio;
  const { ErrorCode, McpError, ElicitRequestSchema, ListRootsRequestSchema, ResultSchema } = types;
  const { ToolListChangedNotificationSchema, PromptListChangedNotificationSchema } = types;
  const lists = { ToolListChangedNotificationSchema, PromptListChangedNotificationSchema };
  const schemas = { ElicitRequestSchema, ListRootsRequestSchema, ResultSchema, ...lists };
  return { Client, deserializeMessage, serializeMessage, ErrorCode, McpError, ...schemas };
}

export type HttpSdk = Awaited<ReturnType<typeof loadHttpSdk>>;

export async function loadHttpSdk() {
  const [{ StreamableHTTPClientTransport, StreamableHTTPError }, { SSEClientTransport }, auth] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/client/sse.js'),
    import('@modelcontextprotocol/sdk/client/auth.js'),
  ]);
  const { extractWWWAuthenticateParams } = auth;
  return { StreamableHTTPClientTransport, StreamableHTTPError, SSEClientTransport, extractWWWAuthenticateParams };
}

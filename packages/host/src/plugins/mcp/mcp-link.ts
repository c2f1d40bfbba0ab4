/** A link to a server: the bytes of a process that the host started, or requests to an address. Both run over the SDK. */
import type { ProtectedResourceMetadata } from '@atrium/protocol/ahp-1';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

export interface Link {
  readonly transport: Transport;
  /** Whether the link has ended. */
  readonly isOver: boolean;
  /** The reason of its end; resolves when no process or connection of it is left. Never rejects. */
  readonly ended: Promise<LinkEnd>;
  /** Nothing new may be sent over it, for this reason. Requests that are on their way are still answered. */
  lapse?(reason: McpAuthRequired): void;
  /** Ends it, and returns when no process or connection of it is left. */
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
  /** `expired`: the server no longer takes the token that there was. `insufficientScope`: it takes it, but not for this. */
  readonly reason: 'required' | 'expired' | 'insufficientScope';
  readonly requiredScopes?: string[];
  readonly message?: string;
}

/** The server answered one request with 401 or 403: it has not done what the request asks for. */
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

/** A link to a server: the bytes of a process that the host started, or requests to an address. Both run over the SDK. */
import type { ProtectedResourceMetadata } from '@atrium/protocol/ahp-1';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

export interface Link {
  readonly transport: Transport;
  /** Whether the link has ended. */
  readonly isOver: boolean;
  /** The reason of its end; resolves when no process or connection of it is left. Never rejects. */
  readonly ended: Promise<LinkEnd>;
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
  /** `expired`: there was a token, and the server no longer takes it. */
  readonly reason: 'required' | 'expired';
  readonly message?: string;
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
  const { ElicitRequestSchema, ErrorCode, McpError, ResultSchema, ToolListChangedNotificationSchema } = types;
  const schemas = { ElicitRequestSchema, ResultSchema, ToolListChangedNotificationSchema };
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

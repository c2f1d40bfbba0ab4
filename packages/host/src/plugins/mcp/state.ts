/** What a server is doing, as clients see it. Never holds a token. */
import type { ProtectedResourceMetadata } from '@atrium/protocol';

export type McpServerState =
  /** Declared but not started, switched off, or shut down. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'ready' }
  | McpAuthRequired
  | { readonly kind: 'error'; readonly message: string };

/** The server wants to know who is there. */
export interface McpAuthRequired {
  readonly kind: 'authRequired';
  readonly resource: ProtectedResourceMetadata;
  /** `expired`: there was a token, and the server no longer takes it. */
  readonly reason: 'required' | 'expired';
  readonly message?: string;
}

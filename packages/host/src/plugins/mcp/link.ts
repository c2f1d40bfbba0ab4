/** A way to a server, of whatever kind: bytes to a process of ours, or requests to an address. */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { McpAuthRequired } from './state.js';

export interface Link {
  readonly transport: Transport;
  /** Whether nothing can be said or heard any more. */
  readonly isOver: boolean;
  /** Why that is so; resolves when nothing of the link is left. Never rejects. */
  readonly ended: Promise<LinkEnd>;
  /** Ends it, and returns when nothing of it is left. */
  close(): Promise<void>;
}

export type LinkEnd = { readonly kind: 'lost'; readonly message: string } | McpAuthRequired;

export function lost(message: string): LinkEnd {
  return { kind: 'lost', message };
}

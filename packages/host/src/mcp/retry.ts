/** When a failed server is started again. */
import { MCP_RETRY_FIRST_MS } from './limits.js';

/** 1, 2, 4 … seconds, by how many retries there were before; those are few, so this needs no other limit. */
export function retryDelayMs(retries: number): number {
  return MCP_RETRY_FIRST_MS * 2 ** retries;
}

/** When a failed server is started again. */
import { MCP_RETRY_FIRST_MS, MCP_RETRY_MAX_MS } from './limits.js';

/** 1, 2, 4, 5, 5 … seconds, by how many retries there were before. */
export function retryDelayMs(retries: number): number {
  return Math.min(MCP_RETRY_FIRST_MS * 2 ** retries, MCP_RETRY_MAX_MS);
}

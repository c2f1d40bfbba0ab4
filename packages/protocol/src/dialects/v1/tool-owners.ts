/** Whose tools and messages these are, as far as metadata says: those of providers and of MCP servers. */
import type { Meta } from '../../common/uri.js';

/** Version 1 knows servers of tools; a provider looks like one. */
export interface ToolServer {
  readonly serverName?: string;
  /** As the server itself calls the tool, where that differs. */
  readonly toolName?: string;
}

export function toolServerOf(meta: Meta | undefined): ToolServer {
  const { provider } = gatewayFacts(meta);
  if (provider !== undefined) return { serverName: provider };
  const { server, tool } = textsIn(meta?.mcp);
  if (server === undefined) return {};
  return tool === undefined ? { serverName: server } : { serverName: server, toolName: tool };
}

/** What the host notes about messages and calls that providers caused. */
export function gatewayFacts(meta: Meta | undefined): { readonly provider?: string; readonly stream?: string } {
  return textsIn(meta?.gateway);
}

function textsIn(value: unknown): Readonly<Record<string, string | undefined>> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, member]) => typeof member === 'string'));
}

/** The environment of a server's process. */
import { type McpStdioConfig, serverEnvironment } from '../customizations/parse/mcp-config.js';

/** The host's own keys to other people's doors; a server has no business with them. */
const SECRET = /^ATRIUM_.*(TOKEN|KEY|SECRET|PASSWORD)/i;

/** The host's environment without its secrets, then what the declaration sets, the folders of its plugin last. */
export function processEnvironment(
  base: Readonly<Record<string, string | undefined>>,
  config: McpStdioConfig,
): Record<string, string> {
  const open = Object.entries(base).filter(([name]) => !SECRET.test(name));
  return serverEnvironment(Object.fromEntries(open), config);
}

/** Which parts of a declaration are keys: error messages often repeat what a server was given. */
import type { McpServerConfig } from '../customizations/parse/mcp-config.js';

const SECRET_NAME = /TOKEN|KEY|SECRET|PASSW|AUTH|CREDENTIAL/i;
/** Anything shorter is no key, and hiding it would make nonsense of harmless words. */
const SECRET_MIN_CHARACTERS = 8;

export function secretsOf(config: McpServerConfig): string[] {
  const named = Object.entries(config.transport === 'stdio' ? config.env : config.headers);
  return named.flatMap(([name, value]) => (value !== null && SECRET_NAME.test(name) ? partsOf(value) : []));
}

/** `Bearer abc…` is shown in either form. */
function partsOf(value: string): string[] {
  return [value, ...value.split(' ')].filter((part) => part.length >= SECRET_MIN_CHARACTERS);
}

/**
 * Prompts of MCP servers as slash commands. The protocol has no member for them: the host lists the prompts of a
 * running server in `_meta` of its customization, with the name that people type.
 */
import type { ChildCustomization, Customization } from './customizations.js';
import { isChildEnabled, isCustomizationEnabled } from './enablement.js';
import type { SessionState } from './state.js';

/** In `_meta` of an MCP server's customization. */
export const PROMPTS_META_KEY = 'atrium.prompts';

export interface ServerPromptArgument {
  readonly name: string;
  readonly description?: string;
  readonly required?: boolean;
}

export interface ServerPrompt {
  /** What people type after the slash: `notes:review`. */
  readonly command: string;
  readonly description?: string;
  readonly arguments?: readonly ServerPromptArgument[];
}

/** The prompts that the host lists for a server; empty for hosts that list none. */
export function promptsOf(server: Pick<Customization | ChildCustomization, '_meta'>): readonly ServerPrompt[] {
  const listed = server._meta?.[PROMPTS_META_KEY];
  return Array.isArray(listed) ? listed.filter(isPrompt) : [];
}

function isPrompt(value: unknown): value is ServerPrompt {
  return typeof value === 'object' && value !== null && 'command' in value && typeof value.command === 'string';
}

export interface OfferedPrompt extends ServerPrompt {
  /** The name of its server. */
  readonly server: string;
  /** The URI of the server's customization. */
  readonly uri: string;
}

/** The prompts of all servers that are switched on and ready. */
export function offeredPrompts({ customizations = [] }: Pick<SessionState, 'customizations'>): OfferedPrompt[] {
  return customizations.flatMap((entry) => {
    const children = 'children' in entry ? (entry.children ?? []) : [];
    const inside = children.filter((child) => isChildEnabled(entry, child));
    return [...(isCustomizationEnabled(entry) ? [entry] : []), ...inside].flatMap((server) =>
      server.type === 'mcpServer' && 'name' in server
        ? promptsOf(server).map((prompt) => ({ ...prompt, server: server.name, uri: server.uri }))
        : [],
    );
  });
}

/** The arguments of a prompt as a hint: `<topic> [tone]`. */
export function argumentsHint({ arguments: wanted = [] }: ServerPrompt): string {
  return wanted.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`)).join(' ');
}

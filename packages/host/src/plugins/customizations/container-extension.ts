/** A container as an extension of its session: its rules, its hooks, and the tools of its MCP servers. */
import type { Extension } from '../../core/contracts/extension.js';
import type { HostTool } from '../../core/contracts/tool.js';
import type { Container } from './container.js';
import type { Hooks } from './hooks/hooks.js';
import { appliedRules } from './text/rules.js';

export interface ExtensionParts {
  readonly folder: string | undefined;
  readonly hooks: Hooks;
  tools(): readonly HostTool[];
}

export function containerExtension(container: Container, { folder, hooks, tools }: ExtensionParts): Extension {
  return {
    id: container.id,
    get name() {
      return container.name;
    },
    get tools() {
      return tools();
    },
    get gates() {
      return hooks.gates;
    },
    prompt: {
      rules: (facts) => appliedRules(container.loaded?.rules ?? [], facts, folder).map(({ body }) => body.trim()),
    },
    beforeTurn: (opening, signal) => hooks.beforeTurn(opening, signal),
    beforeEnd: (ending, signal) => hooks.beforeEnd(ending, signal),
    afterCall: (call, outcome, signal) => hooks.afterCall(call, outcome, signal),
  };
}

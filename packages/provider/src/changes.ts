/** What an author wants changed, as a message to the gateway and as what it does to the registration. Pure. */
import type { ProviderFilterRule } from '@atrium/protocol/provider';
import { hookRules, type Rules, type Transform, wireTransform } from './hooks.js';
import type { Registration } from './registration.js';
import { type Tool, toolDefinition } from './tools.js';
import type { Change } from './updates.js';

/** For providers that are bound to all sessions: only this one. It is forgotten when the connection is lost. */
export interface OneSession {
  readonly sessionId?: string;
}

/** `null` removes a tool. */
export type ToolChanges = Readonly<Record<string, Tool | null>>;

/** New rules replace all old ones of any kind; transforms are merged by section, and `null` removes one. */
export interface HookChanges extends Rules {
  readonly transforms?: Readonly<Record<string, Transform | null>>;
}

/** The whole list is told, because older gateways replace theirs by it; to others the rest is nothing new. */
export function toolsChange({ tools: before }: Registration, changes: ToolChanges, scope: OneSession): Change {
  const remove = Object.keys(changes).filter((name) => changes[name] === null);
  const added = present(changes);
  const all = [...Object.entries(before).filter(([name]) => !Object.hasOwn(changes, name)), ...added];
  const isForAll = scope.sessionId === undefined;
  const tools = (isForAll ? all : added).map(([name, tool]) => toolDefinition(name, tool));
  return {
    message: { type: 'tools.update', ...scope, tools, remove },
    patch: isForAll ? { tools: Object.fromEntries(all) } : {},
  };
}

/** Gates and callbacks that only one session has still have to be answered for, so they are kept for all. */
export function hooksChange(before: Registration, { transforms, ...rules }: HookChanges, scope: OneSession): Change {
  const hasRules = Object.values(rules).some((list) => list !== undefined);
  const wire = Object.entries(transforms ?? {}).map(([section, change]) => [section, change && wireTransform(change)]);
  const merged = present({ ...before.transforms, ...transforms });
  return {
    message: {
      type: 'hooks.update',
      ...scope,
      ...(hasRules && { onPreToolUse: hookRules(rules) }),
      ...(transforms && { transforms: Object.fromEntries(wire) }),
    },
    patch: { ...(hasRules && { rules }), ...(transforms && { transforms: Object.fromEntries(merged) }) },
  };
}

export function contextChange(context: string, scope: OneSession): Change {
  return {
    message: { type: 'context.update', ...scope, context },
    patch: scope.sessionId === undefined ? { context } : {},
  };
}

export function filterChange(
  { filters }: Registration,
  { stream, rules, ...scope }: OneSession & { readonly stream: string; readonly rules: readonly ProviderFilterRule[] },
): Change {
  return {
    message: { type: 'filter.set', ...scope, stream, rules: [...rules] },
    patch: scope.sessionId === undefined ? { filters: { ...filters, [stream]: rules } } : {},
  };
}

function present<T>(changes: Readonly<Record<string, T | null>>): [string, T][] {
  return Object.entries(changes).flatMap(([name, value]): [string, T][] => (value === null ? [] : [[name, value]]));
}

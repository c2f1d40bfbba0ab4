/** What is shown of a provider: what it is and what it does, without a word of what it says to the model. */
import type { ChildCustomization } from '@atrium/protocol';
import { shorten } from '../core/util/text.js';
import { extensionId } from './extension-id.js';
import type { Binding } from './provider.js';
import type { Group } from './room.js';

/** A rule may be about a name of any length; what is shown of it is a label. */
const MATCHER_MAX_CHARACTERS = 100;

/** For machines: one instance of a provider. */
export function describe({ provider, tools, context, startupContext, isAway }: Binding): object {
  const { name, instance, providerId, trust } = provider;
  return {
    name,
    ...(instance !== undefined && { instance }),
    providerId,
    trust,
    tools: [...tools.keys()],
    ...((context !== '' || startupContext !== '') && { context: true }),
    ...(isAway && { away: true }),
  };
}

/** Rules and prompt changes by what they are about. */
export function childrenOf({ name, bindings }: Group): ChildCustomization[] {
  const base = extensionId(name);
  return bindings.flatMap((binding) => {
    const { instance } = binding.provider;
    const of = instance === undefined ? base : `${base}/${instance}`;
    return [...hooksOf(binding, of), ...rulesOf(binding, of)];
  });
}

function hooksOf({ rules }: Binding, of: string): ChildCustomization[] {
  return rules.map(({ match, action }, index) => {
    const id = `${of}#hook=PreToolUse:${index + 1}`;
    const matcher = shorten(match.tool ?? '*', MATCHER_MAX_CHARACTERS);
    // The last two are additional members, which every client has to tolerate.
    const hook = { type: 'hook' as const, id, uri: id, name: `${action} ${matcher}`, event: 'PreToolUse', matcher };
    return hook;
  });
}

function rulesOf({ transforms }: Binding, of: string): ChildCustomization[] {
  return [...transforms].map(([section, { action }]) => {
    const id = `${of}#rule=${section}`;
    return { type: 'rule', id, uri: id, name: section, description: `${action} ${section}` };
  });
}

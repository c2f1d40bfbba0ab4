/** The outcome of reading a container. */
import type { ChildCustomization, CustomizationLoadState } from '@atrium/protocol';
import { childrenOf, NO_PARTS, type Parts } from './children.js';
import { CHILDREN_MAX } from './limits.js';
import type { Surroundings } from './placeholders.js';
import { LoadFailure, type Warning, type Warnings } from './warnings.js';

export interface LoadOptions extends Surroundings {
  /** Begins the ids of all children. */
  readonly containerId: string;
}

export interface LoadedContainer extends Parts {
  readonly load: CustomizationLoadState;
  readonly warnings: readonly Warning[];
  /** As clients see them. */
  readonly children: readonly ChildCustomization[];
}

export function loadedContainer(parts: Parts, warnings: Warnings): LoadedContainer {
  const kept = withinLimit(parts, warnings);
  return { ...kept, load: warnings.loadState(), warnings: warnings.list, children: childrenOf(kept) };
}

export function failedContainer(message: string, warnings: Warnings): LoadedContainer {
  return { ...NO_PARTS, load: { kind: 'error', message }, warnings: warnings.list, children: [] };
}

/** Anything but a failure to load is a mistake of ours, and nobody is helped by hiding it. */
export function failureMessage(error: unknown): string {
  if (error instanceof LoadFailure) return error.message;
  throw error;
}

function withinLimit(parts: Parts, warnings: Warnings): Parts {
  let room = CHILDREN_MAX;
  const kept = <Part>(list: readonly Part[]): readonly Part[] => {
    const fitting = list.slice(0, room);
    room -= fitting.length;
    if (fitting.length < list.length) {
      warnings.add('limit-exceeded', `There are more than ${CHILDREN_MAX} customizations; the rest is left out.`);
    }
    return fitting;
  };
  return {
    agents: kept(parts.agents),
    skills: kept(parts.skills),
    prompts: kept(parts.prompts),
    rules: kept(parts.rules),
    hooks: kept(parts.hooks),
    mcpServers: kept(parts.mcpServers),
  };
}

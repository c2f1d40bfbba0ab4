/** What agents publish about themselves: their models and the sections of their system prompt. */
import type { AgentInfo, ConfigSchema, ModelSelection, SystemMessageSection } from '@atrium/protocol/ahp-1';
import { PROTECTED_SECTIONS } from '@atrium/protocol/provider';

/**
 * Every agent here opens each chat of a session separately, and gets the earlier turns as its own history or as text.
 * So a chat can begin as a copy of another one, or beside it.
 */
export const SEVERAL_CHATS = { fork: true, sideChat: true };

export interface ModelInfo {
  readonly id: string;
  readonly name: string;
  /** In tokens. */
  readonly maxContextWindow?: number;
  /** The model takes images. Without this, it is only told their names. */
  readonly supportsVision?: boolean;
  /** The reasoning efforts that people can choose from. */
  readonly reasoningEfforts?: readonly string[];
  /** People can choose a temperature. */
  readonly hasTemperature?: boolean;
}

/** A person's choices for a model, as far as its schema allows them. */
export interface ModelOptions {
  readonly reasoningEffort?: string;
  readonly temperature?: number;
}

const TEMPERATURE_MAX = 2;

/** The options of a model, as clients see them. */
export function optionSchema({ reasoningEfforts = [], hasTemperature }: ModelInfo): { configSchema?: ConfigSchema } {
  const properties: ConfigSchema['properties'] = {
    ...(reasoningEfforts.length > 0 && {
      reasoningEffort: { type: 'string', title: 'Reasoning effort', enum: [...reasoningEfforts] },
    }),
    ...(hasTemperature && {
      temperature: { type: 'number', title: 'Temperature', description: `From 0 to ${TEMPERATURE_MAX}.` },
    }),
  };
  return Object.keys(properties).length === 0 ? {} : { configSchema: { type: 'object', properties } };
}

/** Leaves out options that the model does not have: they may have been chosen for another one. */
export function optionsFor(model: ModelInfo, config: ModelSelection['config'] = {}): ModelOptions {
  const { reasoningEffort: effort, temperature } = config;
  const hasEffort = typeof effort === 'string' && model.reasoningEfforts?.includes(effort);
  const isWarm = model.hasTemperature && typeof temperature === 'number';
  return {
    ...(hasEffort && { reasoningEffort: effort }),
    ...(isWarm && temperature >= 0 && temperature <= TEMPERATURE_MAX && { temperature }),
  };
}

/** A model as clients see it. */
export function publishedModel(
  provider: string,
  { id, name, maxContextWindow, supportsVision }: ModelInfo,
): AgentInfo['models'][number] {
  return {
    ...{ id, provider, name },
    ...(maxContextWindow !== undefined && { maxContextWindow }),
    ...(supportsVision !== undefined && { supportsVision }),
  };
}

/** The catalogue of sections. Restricted ones cannot be changed. */
export function sectionCatalogue(
  ids: readonly string[],
  restricted: ReadonlySet<string> = PROTECTED_SECTIONS,
): SystemMessageSection[] {
  return ids.map((id) => ({ id, label: labelOf(id), ...(restricted.has(id) && { restricted: true }) }));
}

/** `tool_efficiency` → `Tool efficiency` */
function labelOf(id: string): string {
  const words = id.replaceAll(/[_-]+/g, ' ').trim() || id;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * For an agent that works in several folders. The first one stays: the session's programs, worktree and changes belong
 * to it.
 */
export const SEVERAL_FOLDERS = { immutablePrimary: true };

/**
 * The events that can start an automation: what clients are offered, what a trigger may contain, and which events match
 * it.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isInside } from '@atrium/core/util/paths.js';
import { badValue, isRecord } from '@atrium/core/util/shape.js';
import type { AutomationDefinition, AutomationEventTrigger, ConfigSchema } from '@atrium/protocol/ahp-1';
import { changeFilter } from '../workspace/files/watches.js';
import { FILE_PATTERNS_MAX } from './limits.js';

/** Something that happened in the host. */
export interface HostEvent {
  readonly type: string;
  readonly event: string;
  /** Shown in the run, and to the model. */
  readonly facts: Readonly<Record<string, unknown>>;
  /**
   * The automation in whose session it happened, and the number of automations that started one another up to there.
   */
  readonly by?: { readonly automation: string; readonly chain: number } | undefined;
}

interface EventType {
  readonly title: string;
  readonly description: string;
  readonly events: readonly string[];
  readonly configSchema: ConfigSchema;
  /** The initial configuration that clients are offered. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Why other parts do not fit. */
  refusal?(config: Config, definition: AutomationDefinition): string | undefined;
  /** Whether an event matches a trigger with this configuration. */
  matches(config: Config, event: HostEvent): boolean;
}

type Config = Readonly<Record<string, unknown>>;

export const TURN_EVENT = 'atrium.turn';
export const FILES_EVENT = 'atrium.files';
export const PUSH_EVENT = 'atrium.push';

const TYPES: Readonly<Record<string, EventType>> = {
  [TURN_EVENT]: {
    title: 'A turn ends',
    description: 'An agent has finished what a person, or another automation, asked it for.',
    events: ['completed', 'failed', 'cancelled'],
    configSchema: {
      type: 'object',
      properties: {
        folder: {
          type: 'string',
          title: 'Folder',
          description: 'Only in sessions that work in this folder, or below.',
        },
        provider: { type: 'string', title: 'Agent', description: 'Only of this agent.' },
        automations: {
          type: 'boolean',
          title: 'Turns of automations',
          description: 'Also turns in sessions of other automations. Its own never count.',
          default: false,
        },
      },
    },
    config: {},
    refusal: ({ folder }) =>
      folder === undefined || folderPath(folder) !== undefined
        ? undefined
        : 'folder must be a whole path, or a file URI',
    matches: ({ folder, provider, automations }, { facts, by }) => {
      if (by && automations !== true) return false;
      if (provider !== undefined && provider !== facts.provider) return false;
      const wanted = folderPath(folder);
      const actual = folderPath(facts.folder);
      return wanted === undefined || (actual !== undefined && isInside(wanted, actual));
    },
  },
  [FILES_EVENT]: {
    title: 'Files change',
    description: 'Files in the folder of the automation were added, changed or deleted, but not by its own run.',
    events: ['changed'],
    configSchema: {
      type: 'object',
      properties: {
        patterns: {
          type: 'array',
          title: 'Patterns',
          description: 'Which files, as paths in the folder: src/**/*.ts. node_modules and .git never count.',
          items: { type: 'string', title: 'Pattern' },
          minItems: 1,
          maxItems: FILE_PATTERNS_MAX,
        },
      },
      required: ['patterns'],
    },
    config: { patterns: ['**'] },
    refusal: ({ patterns }, { session }) => {
      if (!session.workingDirectories?.length)
        return 'session.workingDirectories is missing: there is nothing to watch';
      return patternsRefusal(patterns);
    },
    // Its own watch reports the matching changes.
    matches: () => false,
  },
  [PUSH_EVENT]: {
    title: 'A provider tells something',
    description: 'A provider pushed an event to a session.',
    events: ['pushed'],
    configSchema: {
      type: 'object',
      properties: {
        provider: { type: 'string', title: 'Provider', description: 'Its name.' },
        stream: { type: 'string', title: 'Stream', description: 'Only events of this stream.' },
        contains: { type: 'string', title: 'Contains', description: 'Only events with this text.' },
      },
      required: ['provider'],
    },
    config: { provider: '' },
    matches: ({ provider, stream, contains }, { facts }) =>
      provider === facts.provider &&
      (stream === undefined || stream === facts.stream) &&
      (typeof contains !== 'string' || String(facts.text).includes(contains)),
  },
};

/** The triggers that clients are offered: each can be used as it is, and has a schema for its configuration. */
export function triggerDefinitions(): Record<string, unknown>[] {
  return Object.entries(TYPES).map(([type, { title, description, events, config, configSchema }]) => ({
    ...{ kind: 'event', id: type, type, title, description },
    ...{ events: [...events], config, configSchema },
  }));
}

/** Why an event trigger is unusable; undefined when it is fine. */
export function eventRefusal(trigger: AutomationEventTrigger, definition: AutomationDefinition): string | undefined {
  const type = Object.hasOwn(TYPES, trigger.type) ? TYPES[trigger.type] : undefined;
  if (!type) return `this host offers no event ${trigger.type}; listAutomationTriggerDefinitions lists them`;
  const { events } = trigger;
  const isKnown = (event: unknown) => typeof event === 'string' && type.events.includes(event);
  if (!Array.isArray(events) || events.length === 0 || !events.every(isKnown))
    return `events must be some of ${type.events.join(', ')}`;
  const { config = {} } = trigger;
  return configRefusal(type.configSchema, config) ?? type.refusal?.(config, definition);
}

function configRefusal({ properties, required = [] }: ConfigSchema, config: Config): string | undefined {
  const missing = required.find((key) => config[key] === undefined || config[key] === '');
  if (missing !== undefined) return `config.${missing} is missing`;
  for (const [key, value] of Object.entries(config)) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (!property) return `config has no ${key}`;
    const bad = badValue(property, value);
    if (bad !== undefined) return `config.${key} must be ${bad}`;
  }
  return undefined;
}

/** Whether an event matches a trigger. */
export function isMeant(trigger: AutomationEventTrigger, event: HostEvent): boolean {
  const { type, events, config = {} } = trigger;
  if (type !== event.type || !Array.isArray(events) || !events.includes(event.event)) return false;
  return isRecord(config) && (TYPES[type]?.matches(config, event) ?? false);
}

function patternsRefusal(patterns: unknown): string | undefined {
  const isList = Array.isArray(patterns) && patterns.every((pattern) => typeof pattern === 'string' && pattern !== '');
  if (!isList || patterns.length === 0 || patterns.length > FILE_PATTERNS_MAX)
    return `config.patterns must be 1 to ${FILE_PATTERNS_MAX} patterns`;
  try {
    changeFilter(undefined, { items: patterns });
    return undefined;
  } catch (error) {
    return `config.patterns: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The path of a folder, given as a URI or a path. */
export function folderPath(folder: unknown): string | undefined {
  if (typeof folder !== 'string') return undefined;
  if (path.isAbsolute(folder)) return folder;
  try {
    return folder.startsWith('file:') ? fileURLToPath(folder) : undefined;
  } catch {
    return undefined;
  }
}

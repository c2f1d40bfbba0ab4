/** What people can set for the whole host, from any client. It is part of root state, and stays over a restart. */
import type { ConfigSchema, RootConfigChangedAction, RootState } from '@atrium/protocol';
import type { AgentBackend } from '../contracts/agent.js';
import { badValue } from '../sessions/config-values.js';

type Config = NonNullable<RootState['config']>;

export interface RootSettings {
  /** The agent of a session whose creator named none. */
  readonly defaultAgent?: string;
  /** Whether new sessions run tools without asking. */
  readonly autoApprove?: boolean;
}

/** The configuration of a host with these agents. Values of earlier that still fit are kept. */
export function rootConfig(agents: readonly AgentBackend[], stored: Config | undefined): Config {
  const schema = schemaFor(agents);
  const kept = Object.entries(stored?.values ?? {}).filter(([key, value]) => !problem(schema, key, value));
  return { schema, values: Object.fromEntries(kept) };
}

function schemaFor(agents: readonly AgentBackend[]): ConfigSchema {
  const infos = agents.map(({ info }) => info);
  return {
    type: 'object',
    properties: {
      defaultAgent: {
        type: 'string',
        title: 'Agent for new sessions',
        description: 'Works in sessions whose creator chose none. Without it, the first one in the list.',
        enum: infos.map(({ provider }) => provider),
        enumLabels: infos.map(({ displayName }) => displayName),
      },
      autoApprove: {
        type: 'boolean',
        title: 'Run tools without asking, in new sessions',
        description: 'Where each new session starts out; every session can be set differently.',
        default: false,
      },
    },
  };
}

/** Why a client may not change the configuration like this; undefined when it may. */
export function configRefusal(config: Config | undefined, action: RootConfigChangedAction): string | undefined {
  if (!config) return 'this host has no configuration to change';
  for (const [key, value] of Object.entries(action.config)) {
    const why = problem(config.schema, key, value);
    if (why) return why;
  }
  return undefined;
}

function problem({ properties }: ConfigSchema, key: string, value: unknown): string | undefined {
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (!property) return `there is no property ${key}`;
  if (property.readOnly) return `${key} cannot be changed`;
  const bad = badValue(property, value);
  return bad && `${key} must be ${bad}`;
}

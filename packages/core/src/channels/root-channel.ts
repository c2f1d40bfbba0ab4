/**
 * The root channel: what every client may know without opening a session, and the settings of the host, which any
 * client may change. The settings survive a restart.
 */

import {
  type AgentInfo,
  type ConfigSchema,
  MODE_LABELS,
  MODE_PROPERTY,
  MODE_TEXTS,
  PERMISSION_MODES,
  type PermissionMode,
  ROOT_CHANNEL,
  type RootConfigChangedAction,
  type RootState,
  rootReducer,
  type StateAction,
  type TerminalInfo,
} from '@atrium/protocol/ahp-1';
import type { AgentBackend } from '../contracts/agent.js';
import type { EntryOrigin, Log } from '../log/log.js';
import { badValue } from '../util/shape.js';
import { Channel } from './channel.js';
import type { ActionSender, ChannelSnapshot, OpenChannel } from './open-channel.js';
import type { Writer } from './writer.js';

type Config = NonNullable<RootState['config']>;

export interface RootSettings {
  /** The agent of sessions whose creator chose none. */
  readonly defaultAgent?: string;
  /** New sessions run tools without asking. */
  readonly autoApprove?: boolean;
  /** The mode of new sessions. */
  readonly mode?: PermissionMode;
}

/** Builds the configuration for these agents. Stored values that still fit are kept. */
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
      [MODE_PROPERTY]: {
        type: 'string',
        title: 'Mode of new sessions',
        description: 'Where each new session starts out; every session can be set differently.',
        enum: [...PERMISSION_MODES],
        enumLabels: PERMISSION_MODES.map((mode) => MODE_LABELS[mode]),
        enumDescriptions: PERMISSION_MODES.map((mode) => MODE_TEXTS[mode]),
        default: 'ask',
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

/** Says why a client may not change the configuration like this; undefined when it may. */
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

/** The parts of root state that the host itself sets. */
type HostPart = Pick<RootState, 'agents' | 'activeSessions' | 'terminals'>;

export class RootChannel implements OpenChannel {
  #channel = new Channel<RootState>(ROOT_CHANNEL, rootReducer, { agents: [], activeSessions: 0 });
  /** What the root state should become; `publish` writes the actions that bring it there. */
  #target: Partial<HostPart> = {};
  #isClosed = false;

  constructor(
    private readonly log: Log,
    private readonly writer: Writer,
  ) {}

  /**
   * Loads the root state as it was when the host stopped. Differences become actions, so that returning clients get
   * them.
   */
  async load(agents: readonly AgentBackend[]): Promise<void> {
    const { archive, tail = [] } = (await this.log.openChannel(ROOT_CHANNEL, 0)) ?? {};
    const archived: RootState = archive && !archive.isDamaged ? JSON.parse(archive.head) : this.#channel.live;
    const state = tail.reduce(
      (current, { action, isDamaged }) => (isDamaged ? current : rootReducer(current, JSON.parse(action))),
      archived,
    );
    const configured = { ...state, config: rootConfig(agents, state.config) };
    this.#channel = new Channel(ROOT_CHANNEL, rootReducer, configured, { lastTime: tail.at(-1)?.time });
    this.#setAgents(agents);
    for (const agent of agents) agent.whenInfoChanges?.(() => this.#setAgents(agents));
  }

  /** The settings for the whole host. */
  get settings(): RootSettings {
    return this.#channel.live.config?.values ?? {};
  }

  get terminals(): readonly TerminalInfo[] {
    return this.#channel.committed.terminals ?? [];
  }

  get channel(): Channel {
    return this.#channel as unknown as Channel;
  }

  #setAgents(backends: readonly AgentBackend[]): void {
    this.#want({ agents: backends.map(published) });
  }

  setActiveSessions(activeSessions: number): void {
    this.#want({ activeSessions });
  }

  setTerminals(terminals: TerminalInfo[]): void {
    this.#want({ terminals });
  }

  #want(part: Partial<HostPart>): void {
    this.#target = { ...this.#target, ...part };
    this.publish();
  }

  /** Writes what differs from the state: something changed, or an earlier write could not be stored. */
  publish(): void {
    if (this.#isClosed) return;
    const { agents, activeSessions, terminals } = this.#target;
    const { live } = this.#channel;
    if (agents && differ(agents, live.agents)) this.#write({ type: 'root/agentsChanged', agents });
    if (activeSessions !== undefined && activeSessions !== live.activeSessions)
      this.#write({ type: 'root/activeSessionsChanged', activeSessions });
    if (terminals && differ(terminals, live.terminals ?? [])) this.#write({ type: 'root/terminalsChanged', terminals });
  }

  /** Stops writing: an agent may change during shutdown, and retrying to store that would never end. */
  close(): void {
    this.#isClosed = true;
  }

  #write(action: StateAction, origin?: EntryOrigin): void {
    this.writer.write({ channel: this.#channel, action, origin });
    this.writer.storeArchive(ROOT_CHANNEL, () => ({
      channel: ROOT_CHANNEL,
      head: JSON.stringify(this.#channel.live),
      turns: { start: 0, items: [] },
    }));
  }

  takeSnapshot(): ChannelSnapshot {
    return { snapshot: { resource: ROOT_CHANNEL, state: this.#channel.committed, fromSeq: this.writer.shown } };
  }

  async dispatch(action: StateAction, origin: EntryOrigin, asker: ActionSender): Promise<void> {
    const reason =
      action.type === 'root/configChanged'
        ? configRefusal(this.#channel.live.config, action)
        : `clients cannot dispatch ${action.type} here`;
    if (reason !== undefined) return asker.reject(origin, reason);
    this.#write(action, origin);
  }
}

/** Hides system message sections from clients if the agent cannot use changed ones: only such an agent offers them. */
function published({ info, abilities }: AgentBackend): AgentInfo {
  if (abilities.render === 'sections') return info;
  const { systemMessageSections: _unusable, ...rest } = info;
  return rest;
}

function differ(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) !== JSON.stringify(b);
}

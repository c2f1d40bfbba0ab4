/** The root channel: what every client may know without opening a session. */
import {
  type AgentInfo,
  ROOT_CHANNEL,
  type RootState,
  rootReducer,
  type StateAction,
  type TerminalInfo,
} from '@atrium/protocol';
import type { AgentBackend } from '../contracts/agent.js';
import type { Asker, ChannelSnapshot, OpenChannel } from '../contracts/host-core.js';
import type { EntryOrigin, Log } from '../log/log.js';
import { Channel } from './channel.js';
import { configRefusal, type RootSettings, rootConfig } from './root-config.js';
import type { Writer } from './writer.js';

/** What the host itself has to say there. */
type Said = Pick<RootState, 'agents' | 'activeSessions' | 'terminals'>;

export class RootChannel implements OpenChannel {
  #channel = new Channel<RootState>(ROOT_CHANNEL, rootReducer, { agents: [], activeSessions: 0 });
  /** What the root should say; it does once that is stored. */
  #wanted: Partial<Said> = {};
  #isClosed = false;

  constructor(
    private readonly log: Log,
    private readonly writer: Writer,
  ) {}

  /** The root as it was when the host stopped: what is new is told as actions, so that returning clients hear of it. */
  async load(agents: readonly AgentBackend[]): Promise<void> {
    const archive = await this.log.archiveHead(ROOT_CHANNEL);
    const archived: RootState = archive && !archive.isDamaged ? JSON.parse(archive.head) : this.#channel.live;
    const tail = await this.log.read({ after: archive?.seq ?? 0, channel: ROOT_CHANNEL });
    const state = tail.reduce(
      (current, { action, time, isDamaged }) =>
        isDamaged ? current : rootReducer(current, JSON.parse(action), { now: time }),
      archived,
    );
    const configured = { ...state, config: rootConfig(agents, state.config) };
    this.#channel = new Channel(ROOT_CHANNEL, rootReducer, configured, { lastTime: tail.at(-1)?.time });
    this.#setAgents(agents);
    for (const agent of agents) agent.whenInfoChanges?.(() => this.#setAgents(agents));
  }

  /** What people have set for the whole host. */
  get settings(): RootSettings {
    return this.#channel.live.config?.values ?? {};
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

  #want(part: Partial<Said>): void {
    this.#wanted = { ...this.#wanted, ...part };
    this.tell();
  }

  /** Says what is not said yet: something is new, or could not be stored. */
  tell(): void {
    if (this.#isClosed) return;
    const { agents, activeSessions, terminals } = this.#wanted;
    const { live } = this.#channel;
    if (agents && differ(agents, live.agents)) this.#write({ type: 'root/agentsChanged', agents });
    if (activeSessions !== undefined && activeSessions !== live.activeSessions)
      this.#write({ type: 'root/activeSessionsChanged', activeSessions });
    if (terminals && differ(terminals, live.terminals ?? [])) this.#write({ type: 'root/terminalsChanged', terminals });
  }

  /** The host stops. Agents may have news after that, and trying to store it would never end. */
  close(): void {
    this.#isClosed = true;
  }

  #write(action: StateAction, origin?: EntryOrigin): void {
    this.writer.write({ channel: this.#channel, action, origin });
    this.writer.archive(ROOT_CHANNEL, () => ({
      channel: ROOT_CHANNEL,
      seq: this.writer.assignedSeq,
      head: JSON.stringify(this.#channel.live),
      turns: { start: 0, items: [] },
    }));
  }

  takeSnapshot(): ChannelSnapshot {
    const { committedSeq } = this.writer;
    return { snapshot: { resource: ROOT_CHANNEL, state: this.#channel.committed, fromSeq: committedSeq } };
  }

  async dispatch(action: StateAction, origin: EntryOrigin, { connection, original }: Asker): Promise<void> {
    const reason =
      action.type === 'root/configChanged'
        ? configRefusal(this.#channel.live.config, action)
        : `clients cannot dispatch ${action.type} here`;
    if (reason !== undefined) return connection.reject(original, origin, reason);
    this.#write(action, origin);
  }
}

/** Sections are for those who may rewrite them: an agent that takes no sections back has none to offer. */
function published({ info, abilities }: AgentBackend): AgentInfo {
  if (abilities.render === 'sections') return info;
  const { systemMessageSections: _unusable, ...rest } = info;
  return rest;
}

function differ(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) !== JSON.stringify(b);
}

/**
 * The catalogue of automations: one channel, and one record for each entry, from which the host rebuilds it at its
 * start. Everything that depends on something else (the next time, the newest runs, what clients may do) is derived
 * with every change.
 */
import { Channel } from '@atrium/core/channels/channel.js';
import type { ActionSender, ChannelSnapshot, OpenChannel } from '@atrium/core/channels/open-channel.js';
import type { Writer } from '@atrium/core/channels/writer.js';
import { type EntryOrigin, jsonText, type Log } from '@atrium/core/log/log.js';
import type { Clock } from '@atrium/core/util/clock.js';
import {
  AUTOMATIONS_CHANNEL,
  type AutomationAction,
  type AutomationDefinition,
  type AutomationEntry,
  type AutomationRunState,
  type AutomationState,
  automationReducer,
  type StateAction,
} from '@atrium/protocol/ahp-1';
import { type DefinitionFacts, definitionRefusal, uriRefusal } from './definition-rules.js';
import { AUTOMATIONS_MAX, RUNS_PAGE } from './limits.js';
import type { Runs } from './runs.js';
import { nextAfter } from './schedule.js';

const AUTOMATION_RECORDS = 'automation:';

/** For each schedule trigger, the time up to which it has been handled, in milliseconds since the epoch. */
export type HandledUntil = Readonly<Record<string, number>>;

export interface CatalogueOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly writer: Writer;
  readonly runs: Pick<Runs, 'of' | 'active'>;
  agents(): DefinitionFacts['agents'];
  readonly eventRefusal: DefinitionFacts['eventRefusal'];
  /** Definitions were added, removed or changed. */
  changed(): void;
  /** A client removes an automation, in this tick. */
  removing(automation: string): void;
}

export class AutomationCatalogue implements OpenChannel {
  readonly #options: CatalogueOptions;
  #channel = new Channel<AutomationState>(AUTOMATIONS_CHANNEL, automationReducer, { entries: [] });

  constructor(options: CatalogueOptions) {
    this.#options = options;
  }

  async load(): Promise<void> {
    const records = await this.#options.log.records(AUTOMATION_RECORDS);
    const entries = records.map(({ value }) => JSON.parse(value) as AutomationEntry);
    entries.sort((a, b) => a.createdAt.localeCompare(b.createdAt));
    this.#channel = new Channel<AutomationState>(AUTOMATIONS_CHANNEL, automationReducer, { entries });
  }

  get channel(): Channel {
    return this.#channel as unknown as Channel;
  }

  get entries(): readonly AutomationEntry[] {
    return this.#channel.live.entries;
  }

  find(resource: string): AutomationEntry | undefined {
    return this.entries.find((entry) => entry.resource === resource);
  }

  /** Derives an entry again, because a run or the time has changed. */
  refresh(resource: string): void {
    const entry = this.find(resource);
    if (entry) this.#put(this.#derived(entry, handledUntil(entry), entry.runs.length));
  }

  /** The times of these triggers have been handled. */
  handled(resource: string, until: HandledUntil): void {
    const entry = this.find(resource);
    if (entry) this.#put(this.#derived(entry, { ...handledUntil(entry), ...until }, entry.runs.length));
  }

  /** Shows more runs of an automation. */
  showRuns(resource: string, count: number): void {
    const entry = this.find(resource);
    if (entry) this.#put(this.#derived(entry, handledUntil(entry), Math.max(count, entry.runs.length)));
  }

  takeSnapshot(): ChannelSnapshot {
    const { writer } = this.#options;
    return { snapshot: { resource: AUTOMATIONS_CHANNEL, state: this.#channel.committed, fromSeq: writer.shown } };
  }

  async dispatch(action: StateAction, origin: EntryOrigin, asker: ActionSender): Promise<void> {
    const reason = this.#refusal(action);
    if (reason !== undefined) return asker.reject(origin, reason);
    if (action.type === 'automation/createRequested') this.#create(action.resource, action.definition, origin);
    if (action.type === 'automation/updateRequested') this.#update(action.resource, action.definition, origin);
    if (action.type === 'automation/removed') this.#remove(action.resource, origin);
    this.#options.changed();
  }

  #refusal(action: StateAction): string | undefined {
    switch (action.type) {
      case 'automation/createRequested': {
        const { resource, definition } = action;
        if (this.entries.length >= AUTOMATIONS_MAX) return `there are ${AUTOMATIONS_MAX} automations: remove one first`;
        if (resource !== undefined && this.find(resource)) return `there is an automation ${resource} already`;
        return (resource !== undefined ? uriRefusal(resource) : undefined) ?? this.#definitionRefusal(definition);
      }
      case 'automation/updateRequested':
        return this.#missing(action.resource) ?? this.#definitionRefusal(action.definition);
      case 'automation/removed':
        return this.#missing(action.resource);
      default:
        return `clients cannot dispatch ${action.type} here`;
    }
  }

  #missing(resource: string | undefined): string | undefined {
    if (resource === undefined) return 'resource is missing: say which automation';
    return this.find(resource) ? undefined : `there is no automation ${resource}`;
  }

  #definitionRefusal(definition: AutomationDefinition | undefined): string | undefined {
    if (!definition) return 'definition is missing';
    const { clock, agents, eventRefusal } = this.#options;
    return definitionRefusal(definition, { now: clock.now(), agents: agents(), eventRefusal });
  }

  #create(
    resource = `ahp-automation:/${crypto.randomUUID()}`,
    given: AutomationDefinition | undefined,
    origin: EntryOrigin,
  ): void {
    if (!given) return;
    const createdAt = this.#now();
    this.#write({ type: 'automation/createRequested', resource, definition: given }, origin);
    const definition = ofHost(given);
    const entry = { resource, definition, runs: [], operations: [], createdAt, modifiedAt: createdAt };
    this.#put(this.#derived(entry, this.#begun(definition), RUNS_PAGE));
  }

  #update(resource: string | undefined, given: AutomationDefinition | undefined, origin: EntryOrigin): void {
    const entry = resource === undefined ? undefined : this.find(resource);
    if (!entry || !given) return;
    this.#write({ type: 'automation/updateRequested', resource: entry.resource, definition: given }, origin);
    const definition = ofHost(given);
    const until = { ...this.#begun(definition), ...unchangedTriggers(entry, definition) };
    this.#put(this.#derived({ ...entry, definition, modifiedAt: this.#now() }, until, entry.runs.length));
  }

  #remove(resource: string, origin: EntryOrigin): void {
    this.#options.removing(resource);
    this.#write({ type: 'automation/removed', resource }, origin);
    this.#options.writer.record({ key: AUTOMATION_RECORDS + resource, value: null }, 'full');
  }

  /** A schedule begins when it is created or switched on; earlier times do not count. */
  #begun({ triggers }: AutomationDefinition): HandledUntil {
    const now = this.#options.clock.now();
    return Object.fromEntries(triggers.flatMap(({ kind, id }) => (kind === 'schedule' ? [[id, now]] : [])));
  }

  #derived(entry: AutomationEntry, until: HandledUntil, shown: number): AutomationEntry {
    const { runs } = this.#options;
    const { nextRunAt: _next, runsNextCursor: _cursor, ...rest } = entry;
    const kept = runs.of(entry.resource);
    const page = kept.slice(0, Math.max(RUNS_PAGE, shown));
    const last = page.at(-1);
    const next = nextRun(entry.definition, until);
    return {
      ...rest,
      runs: page.map(({ state }): AutomationRunState => state),
      ...(kept.length > page.length && last && { runsNextCursor: String(last.facts.number) }),
      ...(next !== undefined && { nextRunAt: new Date(next).toISOString() }),
      operations: ['update', 'remove', ...(runs.active(entry.resource) ? [] : (['run'] as const))],
      _meta: { atrium: { handledUntil: until } },
    };
  }

  #put(automation: AutomationEntry): void {
    const value = jsonText(automation);
    if (value === JSON.stringify(this.find(automation.resource))) return;
    this.#write({ type: 'automation/set', automation });
    this.#options.writer.record({ key: AUTOMATION_RECORDS + automation.resource, value }, 'full');
  }

  #write(action: AutomationAction, origin?: EntryOrigin): void {
    this.#options.writer.write({ channel: this.#channel, action, origin });
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }
}

/** Marks the message as the automation's, whichever client wrote it, because the host sends it. */
function ofHost(definition: AutomationDefinition): AutomationDefinition {
  return { ...definition, message: { ...definition.message, origin: { kind: 'automation' } } };
}

export function handledUntil({ _meta }: AutomationEntry): HandledUntil {
  return (_meta?.atrium as { handledUntil?: HandledUntil } | undefined)?.handledUntil ?? {};
}

/** Triggers that a change leaves unchanged continue where they were. */
function unchangedTriggers(before: AutomationEntry, { enabled, triggers }: AutomationDefinition): HandledUntil {
  if (!before.definition.enabled || !enabled) return {};
  const until = handledUntil(before);
  const same = triggers.filter((trigger) => {
    const old = before.definition.triggers.find(({ id }) => id === trigger.id);
    return trigger.kind === 'schedule' && old?.kind === 'schedule' && isSame(old.schedule, trigger.schedule);
  });
  return Object.fromEntries(same.flatMap(({ id }) => (until[id] === undefined ? [] : [[id, until[id]]])));
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The next time of its schedules; undefined when it is switched off, or has none. */
function nextRun({ enabled, triggers }: AutomationDefinition, until: HandledUntil): number | undefined {
  if (!enabled) return undefined;
  const times = triggers.flatMap((trigger) => {
    if (trigger.kind !== 'schedule') return [];
    return nextAfter(trigger.schedule, until[trigger.id] ?? 0) ?? [];
  });
  return times.length === 0 ? undefined : Math.min(...times);
}

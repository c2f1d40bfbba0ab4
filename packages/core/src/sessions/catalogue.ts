/** The list of all sessions, in memory or not: kept small enough to be in memory whole, announced to clients, and repaired after damage. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  channelKind,
  ROOT_CHANNEL,
  type SessionLifecycle,
  type SessionState,
  SessionStatus,
  type SessionSummary,
  sessionReducer,
  type Turn,
} from '@atrium/protocol';
import type { Writer } from '../channels/writer.js';
import type { Watchers } from '../contracts/ports.js';
import { type Log, type LogEntry, REBUILT_RECORD, salvagedText } from '../log/log.js';
import type { Clock } from '../util/clock.js';
import { shorten } from '../util/text.js';
import { headText } from './history.js';
import { DAMAGED } from './recovery.js';
import type { SessionRecords } from './session-records.js';

export interface CatalogueEntry {
  readonly summary: SessionSummary;
  readonly lifecycle: SessionLifecycle;
  /** When it was disposed, in milliseconds since the epoch. */
  readonly disposedAt?: number;
}

interface Known {
  readonly provider: string;
  readonly lifecycle: SessionLifecycle;
  readonly disposedAt: number | undefined;
  /** Where it works, as a path of this machine. */
  readonly folder: string | undefined;
  /** The summary as JSON: a list is made of these without reading them. */
  readonly summaryText: string;
}

const SESSION = 'session:';
export class Catalogue {
  readonly #known = new Map<string, Known>();
  /** The folders of listed sessions; undefined when they have to be gathered anew. */
  #folders: ReadonlySet<string> | undefined;

  constructor(
    private readonly log: Log,
    private readonly writer: Writer,
  ) {}

  async load(): Promise<void> {
    for (const { key, value } of await this.log.records(SESSION)) {
      this.#remember(key.slice(SESSION.length), JSON.parse(value));
    }
  }

  #remember(uri: string, { summary, lifecycle, disposedAt }: CatalogueEntry): void {
    const summaryText = JSON.stringify(summary);
    const folder = summary.workingDirectory === undefined ? undefined : pathOf(summary.workingDirectory);
    const before = this.#known.get(uri);
    if (before?.folder !== folder || before?.disposedAt !== disposedAt) this.#folders = undefined;
    this.#known.set(uri, { provider: summary.provider, lifecycle, disposedAt, folder, summaryText });
  }

  /** The provider of a session, disposed or not. */
  providerOf(uri: string): string | undefined {
    return this.#known.get(uri)?.provider;
  }

  find(uri: string): CatalogueEntry | undefined {
    const known = this.#known.get(uri);
    if (!known) return undefined;
    const { lifecycle, disposedAt, summaryText } = known;
    return { summary: JSON.parse(summaryText), lifecycle, ...(disposedAt !== undefined && { disposedAt }) };
  }

  isListed(uri: string): boolean {
    const known = this.#known.get(uri);
    return known !== undefined && known.disposedAt === undefined;
  }

  /** The summaries of all listed sessions, as one JSON array. */
  listText(): string {
    return `[${this.#listed()
      .map(({ summaryText }) => summaryText)
      .join(',')}]`;
  }

  /** The folders of listed sessions, the latest first, as paths. */
  folders(): string[] {
    const summaries = this.#listed().map(({ summaryText }) => JSON.parse(summaryText) as SessionSummary);
    summaries.sort((a, b) => b.modifiedAt - a.modifiedAt);
    const uris = summaries.flatMap(({ project, workingDirectory }) => project?.uri ?? workingDirectory ?? []);
    return [...new Set(uris)].flatMap((uri) => pathOf(uri) ?? []);
  }

  /** All that are stored, disposed ones too. */
  stored(): string[] {
    return [...this.#known.keys()];
  }

  /** Where listed sessions work. The same object as long as that is the same. */
  workingFolders(): ReadonlySet<string> {
    this.#folders ??= new Set(this.#listed().flatMap(({ folder }) => (folder ? path.resolve(folder) : [])));
    return this.#folders;
  }

  get count(): number {
    return this.#listed().length;
  }

  #listed(): Known[] {
    return [...this.#known.values()].filter(({ disposedAt }) => disposedAt === undefined);
  }

  /** Disposed sessions, with when. */
  disposed(): { uri: string; at: number }[] {
    return [...this.#known].flatMap(([uri, { disposedAt: at }]) => (at === undefined ? [] : { uri, at }));
  }

  /** Notes a session as it is now, together with the actions of this tick. The list shows it once it is stored. */
  set(uri: string, entry: CatalogueEntry): void {
    this.writer.record({ key: SESSION + uri, value: JSON.stringify(entry) });
    this.writer.afterCommit(() => this.#remember(uri, entry));
  }

  remove(uri: string): void {
    this.writer.record({ key: SESSION + uri, value: null });
    this.writer.afterCommit(() => {
      this.#known.delete(uri);
      this.#folders = undefined;
    });
  }
}

function pathOf(uri: string): string | undefined {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : undefined;
  } catch {
    return undefined;
  }
}

/** Tells everyone who shows a list of sessions what came and went, and how many there are. */
export class ListNews {
  constructor(
    private readonly options: {
      readonly watchers: Watchers;
      readonly root: { setActiveSessions(count: number): void };
      readonly catalogue: Catalogue;
    },
  ) {}

  added(summary: SessionSummary): void {
    this.#tell('root/sessionAdded', { summary });
  }

  removed(session: string): void {
    this.#tell('root/sessionRemoved', { session });
  }

  #tell(method: string, params: object): void {
    const { watchers, root, catalogue } = this.options;
    watchers.notify(ROOT_CHANNEL, method, params);
    root.setActiveSessions(catalogue.count);
  }
}

type Changes = Record<string, unknown>;

/** Members that never change. */
const IDENTITY: ReadonlySet<string> = new Set(['resource', 'provider', 'createdAt']);

/** What changed between two summaries; `null` for a member that is gone. Undefined when nothing did. */
export function summaryChanges(before: SessionSummary, after: SessionSummary): Changes | undefined {
  if (before === after) return undefined;
  const keys = new Set([...Object.keys(before), ...Object.keys(after)] as (keyof SessionSummary)[]);
  const changed = [...keys].filter((key) => !IDENTITY.has(key) && !isSame(before[key], after[key]));
  return changed.length ? Object.fromEntries(changed.map((key) => [key, after[key] ?? null])) : undefined;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** Whether a session is at work, so that a crash now would cut something off. */
export function isAtWork(state: SessionState): boolean {
  return !!state.activeTurn || state.lifecycle === 'creating';
}

/**
 * Makes the list of sessions whole again after the log was damaged. Every session is known in three places, which stand
 * on different pages of the file: the list, its archive, its turns. What one of them lost is made from the others.
 */
export interface ListRecoveryOptions {
  readonly log: Log;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly catalogue: Catalogue;
  readonly records: SessionRecords;
}

/** The agent of a session of which only turns are left. Nobody has this name, so nobody answers in its place. */
export const UNKNOWN_PROVIDER = 'unknown';

const TITLE_CHARACTERS = 80;
const ALL_TURNS = { start: 0, end: Number.MAX_SAFE_INTEGER };
/** An archive is written with the end of a turn: what comes behind the last end is not in it. */
const ENDS: ReadonlySet<string> = new Set([
  'session/turnComplete',
  'session/turnCancelled',
  'session/error',
  'session/truncated',
]);

/** Says what was done; undefined when the log was not rebuilt. */
export async function recoverList(options: ListRecoveryOptions): Promise<string | undefined> {
  const { log, writer, catalogue, records } = options;
  const salvaged = await log.record(REBUILT_RECORD);
  if (salvaged === undefined) return undefined;
  const unfinished = new Set((await records.unfinished()).map(({ uri }) => uri));
  const stored = (await log.channels()).filter((uri) => channelKind(uri) === 'session' && !unfinished.has(uri));
  const lost = stored.filter((uri) => catalogue.find(uri) === undefined);
  for (const uri of lost) catalogue.set(uri, await entryFrom(options, uri));
  for (const uri of [...catalogue.stored(), ...lost]) await restoreArchive(options, uri);
  writer.record({ key: REBUILT_RECORD, value: null });
  await writer.settled();
  const list = `the list of sessions was made anew: ${catalogue.count} are on it, ${lost.length} of them were missing`;
  // A record of its own was damaged, and nothing else: there are no counts.
  return salvaged === '{}' ? list : `${list}; ${salvagedText(salvaged)}`;
}

/** The list knows nothing of it; its archive does, or its turns say a little. */
async function entryFrom({ log, clock }: ListRecoveryOptions, uri: string): Promise<CatalogueEntry> {
  const archive = await log.archiveHead(uri);
  const head = archive && !archive.isDamaged ? (JSON.parse(archive.head) as Partial<SessionState>) : {};
  if (head.summary && head.lifecycle) return { summary: head.summary, lifecycle: head.lifecycle };
  const [first] = await log.archivedTurns(uri, { start: 0, end: 1 });
  const said = first && (JSON.parse(first.json) as Partial<Turn>).userMessage?.text;
  const now = clock.now();
  const summary: SessionSummary = {
    resource: uri,
    provider: UNKNOWN_PROVIDER,
    title: said ? shorten(said, TITLE_CHARACTERS) : 'Recovered session',
    status: SessionStatus.Idle,
    createdAt: now,
    modifiedAt: now,
  };
  return { summary, lifecycle: 'ready' };
}

/** The list knows it, and its archive is lost: a new one is made of what the list says, its turns, and what came after. */
async function restoreArchive({ log, writer, clock, catalogue }: ListRecoveryOptions, uri: string): Promise<void> {
  const entry = catalogue.find(uri);
  if (!entry || (await log.archiveHead(uri))) return;
  const { length: start } = await log.archivedTurns(uri, ALL_TURNS);
  const entries = await log.read({ after: 0, channel: uri });
  const end = entries.findLastIndex(
    ({ action }) => action !== '' && ENDS.has((JSON.parse(action) as { type: string }).type),
  );
  const state = stateAfter(JSON.parse(headOf(entry)), entries.slice(end + 1), clock.now());
  const items = state.turns.map((turn) => ({ id: turn.id, json: JSON.stringify(turn) }));
  writer.archive(uri, () => ({ channel: uri, head: headText(state), turns: { start, items } }));
  if (items.length > 0) catalogue.set(uri, { ...entry, summary: state.summary });
}

/** A turn that misses something because of the damage ends and says so. */
function stateAfter(head: SessionState, entries: readonly LogEntry[], now: number): SessionState {
  const whole = entries.filter(({ isDamaged }) => !isDamaged);
  const state = whole.reduce(
    (current, { action, time }) => sessionReducer(current, JSON.parse(action), { now: time }),
    head,
  );
  if (whole.length === entries.length || !state.activeTurn) return state;
  return sessionReducer(state, { type: 'session/error', turnId: state.activeTurn.id, error: DAMAGED }, { now });
}

/** The state of a session, without its turns, as far as the list knows it. */
export function headOf({ summary, lifecycle }: CatalogueEntry): string {
  return headText({ summary, lifecycle, turns: [] });
}

/**
 * What a session's turns changed, and what was undone. It is part of the host's log: each event is one record under a
 * key that begins with the session, so that reading a session means reading one range of keys. The log holds paths and
 * hashes; the contents are blobs. See `docs/decisions/0030-changes-in-the-log.md`.
 */
import type { Writer } from '@atrium/core/channels/writer.js';
import { jsonText, type Log } from '@atrium/core/log/log.js';
import { isRecord } from '@atrium/core/util/shape.js';
import type { BytePath } from '../git/byte-path.js';
import { type Change, segmentsOf } from './change.js';
import { keyOf } from './uri.js';

export interface TurnChanges {
  readonly turnId: string;
  readonly changes: readonly Change[];
}

/** A file as Git had it staged, by the hash of its content. */
export interface StagedFile {
  readonly path: BytePath;
  readonly mode: string;
  readonly hash: string;
}

/** The meaning of an undo for turns and for what was staged. */
export interface UndoneMeaning {
  /** The view in which a person asked for it. */
  readonly view: string;
  /** The newest turn first, because changes are undone in that order. */
  readonly turns: readonly TurnChanges[];
  readonly staged?: readonly StagedFile[];
}

/** Changes were undone or discarded: the meaning for turns, and the effect on files. */
export interface Undone extends UndoneMeaning {
  readonly kind: 'undone';
  readonly id: string;
  readonly applied: readonly Change[];
}

/**
 * The host is about to change files for a person. Stored before it begins, so that nothing is lost if the host stops
 * meanwhile.
 */
export interface Writing {
  readonly kind: 'writing';
  readonly id: string;
  readonly planned: readonly Change[];
  /** Absent when an undo is being reversed. */
  readonly meaning?: UndoneMeaning;
}

/** The changes of one call, or of a whole turn. */
export interface ChangeStep {
  readonly kind: 'step';
  readonly turnId: string;
  readonly id: string;
  readonly changes: readonly Change[];
  /** Why there may be more changes than these. */
  readonly gap?: string;
}

export type ChangeEvent =
  | { readonly kind: 'turn'; readonly turnId: string }
  /** A call begins that may change something. The step with the same id replaces this event. */
  | { readonly kind: 'begun'; readonly turnId: string; readonly id: string }
  | ChangeStep
  /** The `undone` with the same id replaces this event, or `end` removes it. */
  | Writing
  | Undone
  /** The undo with this id was reversed. */
  | { readonly kind: 'redone'; readonly id: string };

const KINDS: ReadonlySet<unknown> = new Set<ChangeEvent['kind']>([
  'turn',
  'begun',
  'step',
  'writing',
  'undone',
  'redone',
]);

/** The part of the host's log that this file needs. */
export interface ChangeRecords {
  readonly log: Pick<Log, 'records' | 'record'>;
  readonly writer: Pick<Writer, 'record' | 'settled'>;
}

const PREFIX = 'changes:';
const NUMBER_DIGITS = 10;

function prefixOf(session: string): string {
  return `${PREFIX}${keyOf(session)}/`;
}

/** Removes all records of a session with the commit of this tick. */
export async function forgetChanges({ log, writer }: ChangeRecords, session: string): Promise<void> {
  for (const { key } of await log.records(prefixOf(session))) writer.record({ key, value: null });
}

const LOST = 'the host stopped while something was being done, so what that changed is not known';

export class ChangeLog {
  readonly #prefix: string;
  /** By the numbers in their keys, oldest first. */
  readonly #events = new Map<number, ChangeEvent>();
  /** The numbers of events that have begun and not ended, by id. */
  readonly #open = new Map<string, number>();
  readonly #turns = new Set<string>();
  readonly #redone = new Set<string>();
  #next = 1;
  #bytes = 0;
  #size = 0;

  private constructor(
    private readonly records: ChangeRecords,
    session: string,
  ) {
    this.#prefix = prefixOf(session);
  }

  static async open(records: ChangeRecords, session: string): Promise<ChangeLog> {
    const changes = new ChangeLog(records, session);
    for (const { key, value } of await records.log.records(changes.#prefix)) {
      const number = Number(key.slice(changes.#prefix.length));
      const event = parsedEvent(value);
      if (event) changes.#remember(number, event);
      changes.#next = number + 1;
    }
    return changes;
  }

  /** Resolves when the event is in the log. The same commit removes the event that it replaces. */
  async add(event: ChangeEvent): Promise<void> {
    await this.#store([event]);
  }

  /** Adds events in one commit, together with whatever else this tick records. */
  async addAll(events: readonly ChangeEvent[]): Promise<void> {
    await this.#store(events);
  }

  /** The writing with this id has ended, and changed nothing that could be undone. */
  async end(id: string): Promise<void> {
    const number = this.#open.get(id);
    if (number === undefined) return;
    this.#record(number, undefined);
    await this.records.writer.settled();
    this.#forget(id);
  }

  async #store(events: readonly ChangeEvent[]): Promise<void> {
    const numbered = events.map((event) => [this.#next++, event] as const);
    for (const [number, event] of numbered) {
      const replaced = isEnd(event) ? this.#open.get(event.id) : undefined;
      if (replaced !== undefined) this.#record(replaced, undefined);
      this.#record(number, event);
    }
    await this.records.writer.settled();
    for (const [number, event] of numbered) {
      if (isEnd(event)) this.#forget(event.id);
      this.#remember(number, event);
    }
  }

  /** Forgets the event that began under this id. */
  #forget(id: string): void {
    const number = this.#open.get(id);
    if (number !== undefined) this.#events.delete(number);
    this.#open.delete(id);
  }

  /** Records a change of the log at once: files that follow a `writing` must never be on the disk without it. */
  #record(number: number, event: ChangeEvent | undefined): void {
    const key = `${this.#prefix}${String(number).padStart(NUMBER_DIGITS, '0')}`;
    const value = event ? jsonText(event) : null;
    this.records.writer.record({ key, value }, event?.kind === 'writing' ? 'full' : 'normal');
  }

  #remember(number: number, event: ChangeEvent): void {
    this.#events.set(number, event);
    if (event.kind === 'begun' || event.kind === 'writing') this.#open.set(event.id, number);
    if (event.kind === 'step') this.#size += event.changes.length;
    if (event.kind === 'step') this.#bytes += event.changes.reduce((sum, change) => sum + bytesIn(change), 0);
    if (event.kind === 'turn') this.#turns.add(event.turnId);
    if (event.kind === 'redone') this.#redone.add(event.id);
  }

  /** The total size of contents that its steps name; a content counts as often as it is named. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of changes in its steps. */
  get size(): number {
    return this.#size;
  }

  /** The turns that were recorded, oldest first. */
  get turns(): readonly string[] {
    return [...this.#turns];
  }

  has(turnId: string): boolean {
    return this.#turns.has(turnId);
  }

  /**
   * The remaining changes of these turns, by file. An undo is first subtracted from its own turn, because people undo
   * turns in any order and the changes of a file then no longer form one chain.
   */
  segments(turnIds: readonly string[]): Map<BytePath, readonly Change[]> {
    const byTurn = this.#changesOf(new Set(turnIds));
    const left = turnIds.flatMap((turnId) => [...segmentsOf(byTurn.get(turnId) ?? []).values()].flat());
    return segmentsOf(left);
  }

  #changesOf(wanted: ReadonlySet<string>): ReadonlyMap<string, Change[]> {
    const byTurn = new Map<string, Change[]>([...wanted].map((turnId) => [turnId, []]));
    for (const event of this.#events.values()) {
      if (event.kind === 'step') byTurn.get(event.turnId)?.push(...event.changes);
      if (event.kind !== 'undone' || this.#redone.has(event.id)) continue;
      for (const { turnId, changes } of event.turns) byTurn.get(turnId)?.push(...changes);
    }
    return byTurn;
  }

  /**
   * Why these turns may have changed more than the log says. `inProgress` names the recordings that this host will end.
   */
  gaps(turnIds: readonly string[], inProgress: ReadonlySet<string>): string[] {
    const wanted = new Set(turnIds);
    const gaps = new Set<string>();
    let isLost = false;
    for (const event of this.#events.values()) {
      if ((event.kind !== 'step' && event.kind !== 'begun') || !wanted.has(event.turnId)) continue;
      if (event.kind === 'begun') isLost ||= !inProgress.has(event.id);
      else if (event.gap !== undefined) gaps.add(event.gap);
    }
    return [...gaps, ...(isLost ? [LOST] : [])];
  }

  /** The writings that had not ended when the host stopped. */
  get unfinished(): readonly Writing[] {
    return [...this.#events.values()].filter((event) => event.kind === 'writing');
  }

  /** The last undo in a view that was not reversed. */
  lastUndone(view: string): Undone | undefined {
    return this.undone(view).at(-1);
  }

  /** The undos in a view that were not reversed, oldest first. */
  undone(view: string): Undone[] {
    const undone = [...this.#events.values()].filter((event) => event.kind === 'undone');
    return undone.filter((event) => event.view === view && !this.#redone.has(event.id));
  }
}

/** Whether the event replaces the one that began under its id. */
function isEnd(event: ChangeEvent): event is ChangeStep | Undone {
  return event.kind === 'step' || event.kind === 'undone';
}

/** Undefined for the event of a later version. */
function parsedEvent(json: string): ChangeEvent | undefined {
  const event: unknown = JSON.parse(json);
  return isRecord(event) && KINDS.has(event.kind) ? (event as unknown as ChangeEvent) : undefined;
}

function bytesIn({ before, after }: Change): number {
  return [before, after].reduce((sum, side) => sum + (side && !side.isLost ? side.bytes : 0), 0);
}

/**
 * The usage, summed up as people ask for it: by day, by project and by session. An account is a few rows, one for each
 * project, agent, model and plan. A row is a small record of the log, written in the same commit that stores the usage.
 * A row can be added to before its account has been read: it then becomes a second record for the same owner, and both
 * count. So counting waits for nothing, and a crash at any moment neither loses nor doubles anything.
 */
import type { Writer } from '@atrium/core/channels/writer.js';
import { jsonText, type Log } from '@atrium/core/log/log.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { addCounts, NO_USAGE, type UsageCounts } from '@atrium/protocol/ahp-1';

/** Rows of one account. Further projects and models are counted together, without their names. */
export const ACCOUNT_ROWS_MAX = 200;

export type AccountKind = 'day' | 'project' | 'session';

/** The owner of a row's usage. */
export interface RowOwner {
  /** The URI of its folder; empty for sessions without one. */
  readonly project: string;
  readonly agent: string;
  readonly model?: string;
  readonly plan?: 'flat';
}

export interface RowCounts extends UsageCounts {
  readonly turns: number;
  readonly milliseconds: number;
  /** The cost that agents report themselves, in US dollars. */
  readonly costUsd: number;
}

export interface UsageRow extends RowOwner, RowCounts {}

export const NO_COUNTS: RowCounts = { ...NO_USAGE, turns: 0, milliseconds: 0, costUsd: 0 };

interface Stored {
  readonly key: string;
  counts: RowCounts;
}

interface AccountOptions {
  readonly log: Log;
  readonly writer: Writer;
  readonly kind: AccountKind;
  /** The day, or the URI of the project or session. */
  readonly name: string;
}

export class Account {
  readonly #options: AccountOptions;
  /** The rows that this process adds to, by their owner. */
  readonly #rows = new Map<string, Stored & { readonly owner: RowOwner }>();
  /** Further records of the same owners. */
  readonly #more: UsageRow[] = [];
  #loaded: Promise<void> | undefined;
  #unstored = 0;

  constructor(options: AccountOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  /** Whether everything is stored; only then may the account leave memory. */
  get isSettled(): boolean {
    return this.#unstored === 0;
  }

  /** Reads the stored records once. */
  load(): Promise<void> {
    this.#loaded ??= this.#load().catch((error) => {
      this.#loaded = undefined;
      throw error;
    });
    return this.#loaded;
  }

  async #load(): Promise<void> {
    const { log, kind, name } = this.#options;
    const stored = await log.records(prefixOf(kind, name));
    // Computed only now, because rows may have been added meanwhile.
    const own = new Set([...this.#rows.values()].map(({ key }) => key));
    for (const { key, value } of stored) {
      const row = rowIn(value);
      if (!row || own.has(key)) continue;
      const { owner, counts } = partsOf(row);
      const id = idOf(owner);
      if (this.#rows.has(id)) this.#more.push(row);
      else this.#rows.set(id, { key, owner, counts });
    }
  }

  /** Adds to a row in this tick. If the tick cannot be stored, nothing was added. */
  add(given: RowOwner, counts: RowCounts): void {
    const { writer } = this.#options;
    const row = this.#rowFor(given);
    row.counts = addCounts(row.counts, counts);
    writer.record({ key: row.key, value: jsonText({ ...row.owner, ...row.counts }) });
    this.#unstored += 1;
    writer.afterCommit(() => {
      this.#unstored -= 1;
    });
    writer.afterFailure(() => {
      this.#unstored -= 1;
      row.counts = addCounts(row.counts, counts, -1);
    });
  }

  #rowFor(given: RowOwner): Stored & { readonly owner: RowOwner } {
    const known = this.#rows.get(idOf(given));
    if (known) return known;
    const { agent, plan } = given;
    const isFull = this.#rows.size >= ACCOUNT_ROWS_MAX;
    const owner: RowOwner = isFull ? { project: '', agent, ...(plan && { plan }) } : given;
    const other = isFull ? this.#rows.get(idOf(owner)) : undefined;
    if (other) return other;
    const { kind, name } = this.#options;
    const row = { key: `${prefixOf(kind, name)}${crypto.randomUUID().slice(0, 13)}`, owner, counts: NO_COUNTS };
    this.#rows.set(idOf(owner), row);
    return row;
  }

  /** All rows, as far as they have been read. */
  rows(): readonly UsageRow[] {
    return [...[...this.#rows.values()].map(({ owner, counts }) => ({ ...owner, ...counts })), ...this.#more];
  }
}

/** Names are encoded, so that none is a prefix of another. */
export function prefixOf(kind: AccountKind, name?: string): string {
  return name === undefined ? `usage:${kind}:` : `usage:${kind}:${encodeURIComponent(name)}:`;
}

/** The name of the account that a record belongs to. */
export function accountOf(kind: AccountKind, key: string): string {
  return decodeURIComponent(key.slice(prefixOf(kind).length, key.lastIndexOf(':')));
}

export function rowIn(value: string): UsageRow | undefined {
  const row: unknown = JSON.parse(value);
  if (!isRecord(row) || typeof row.project !== 'string' || typeof row.agent !== 'string') return undefined;
  // A later version may count more, and an earlier one less.
  return { ...NO_COUNTS, ...row } as UsageRow;
}

function idOf({ project, agent, model, plan }: RowOwner): string {
  return JSON.stringify([project, agent, model, plan]);
}

function partsOf(row: UsageRow): { readonly owner: RowOwner; readonly counts: RowCounts } {
  const { project, agent, model, plan } = row;
  const counts = Object.fromEntries(Object.keys(NO_COUNTS).map((name) => [name, row[name as keyof RowCounts]]));
  const owner = { project, agent, ...(model !== undefined && { model }), ...(plan && { plan }) };
  return { owner, counts: counts as unknown as RowCounts };
}

export function totalOf(rows: readonly RowCounts[]): RowCounts {
  return rows.reduce<RowCounts>((sum, row) => addCounts(sum, row), NO_COUNTS);
}

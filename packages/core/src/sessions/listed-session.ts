/**
 * One session of the list, as the log has it. Its record is read when something about it is asked, and parsed when more
 * is asked.
 */
import { isPinned, PINNED_META_KEY, type SessionLifecycle, type SessionSummary } from '@atrium/protocol/ahp-1';
import { foldersOf } from '../util/folders.js';

export interface CatalogueEntry {
  readonly summary: SessionSummary;
  readonly lifecycle: SessionLifecycle;
  /** When it was disposed, in milliseconds since the epoch. */
  readonly disposedAt?: number;
}

/** Start of a record of a session that is neither failed nor disposed, as nearly all are. `READY_END` is its end. */
const RECORD_START = '{"summary":';
export const READY_END = ',"lifecycle":"ready"}';
/** Inside a JSON string every quotation mark has a backslash, so a match is a member. */
const MODIFIED_AT = '"modifiedAt":"';

/** What is asked about all sessions at once. */
export interface SessionFacts {
  readonly provider: string;
  /** The folders in which it works, as paths on this machine. */
  readonly folders: readonly string[];
  /** The URI of its project, or else of its first folder. */
  readonly home: string | undefined;
  readonly modifiedAt: string;
  readonly status: number;
  readonly isPinned: boolean;
  /** A person started it, not another session or an automation. */
  readonly isOfPerson: boolean;
}

type FactMembers = Pick<
  SessionSummary,
  'provider' | 'workingDirectories' | 'project' | 'modifiedAt' | 'status' | '_meta' | 'origin'
>;

/** The JSON paths by which a log finds the facts in a record without reading the rest. */
export const FACT_PATHS: readonly string[] = [
  '$.summary.provider',
  '$.summary.workingDirectories',
  '$.summary.project',
  '$.summary.modifiedAt',
  '$.summary.status',
  `$.summary._meta."${PINNED_META_KEY}"`,
  '$.summary.origin',
];

/** The paths that sorting the list needs. */
export const AGE_PATHS: readonly string[] = ['$.summary.modifiedAt'];

/** The values at `FACT_PATHS`, as members of a summary. */
export function membersAt(found: readonly unknown[]): FactMembers {
  const there = found.map((each) => each ?? undefined);
  const [provider, workingDirectories, project, modifiedAt, status, pinned, origin] = there;
  const _meta = { [PINNED_META_KEY]: pinned };
  return { provider, workingDirectories, project, modifiedAt, status, origin, _meta } as unknown as FactMembers;
}

/** Reads facts. Thousands of sessions work in a few folders, so each path is computed and kept once. */
export class FactReader {
  readonly #folders = new Map<string, readonly string[]>();

  read(summary: FactMembers): SessionFacts {
    const { provider, modifiedAt, status, project, workingDirectories = [], origin } = summary;
    const home = project?.uri ?? workingDirectories[0];
    const folders = this.#foldersOf(summary);
    return { provider, folders, home, modifiedAt, status, isPinned: isPinned(summary), isOfPerson: !origin };
  }

  #foldersOf(summary: FactMembers): readonly string[] {
    const key = summary.workingDirectories?.join('\0') ?? '';
    const folders = this.#folders.get(key) ?? foldersOf(summary);
    this.#folders.set(key, folders);
    return folders;
  }
}

export class ListedSession {
  #record: string | undefined;
  #facts: SessionFacts | undefined;
  #modifiedAt: string | undefined;
  readonly disposedAt: number | undefined;

  /** Without a record, the session is ready, and the log has its record. */
  constructor(record?: string) {
    this.#record = record;
    if (record !== undefined && !isReady(record)) this.disposedAt = this.entry().disposedAt;
  }

  get isRead(): boolean {
    return this.#record !== undefined;
  }

  read(record: string): void {
    this.#record = record;
  }

  entry(): CatalogueEntry {
    return JSON.parse(this.#text);
  }

  /** The summary as JSON: lists are built from these texts without parsing them. */
  get summaryText(): string {
    const record = this.#text;
    if (isReady(record)) return record.slice(RECORD_START.length, -READY_END.length);
    return JSON.stringify(this.entry().summary);
  }

  get hasFacts(): boolean {
    return this.#facts !== undefined;
  }

  /** The facts, taken from the record unless the log has told them. */
  facts(reader: FactReader): SessionFacts {
    this.#facts ??= reader.read(this.entry().summary);
    return this.#facts;
  }

  update(facts: SessionFacts): void {
    this.#facts = facts;
  }

  /** Undefined until the log has reported it. It never changes: a session that changes gets a new entry. */
  modifiedAt(reader: FactReader): string | undefined {
    if (this.#modifiedAt !== undefined) return this.#modifiedAt;
    if (this.#record !== undefined && !this.#facts) this.#modifiedAt = modifiedAtIn(this.#record);
    if (this.isRead || this.hasFacts) this.#modifiedAt ??= this.facts(reader).modifiedAt;
    return this.#modifiedAt;
  }

  updateAge(modifiedAt: string): void {
    this.#modifiedAt = modifiedAt;
  }

  get #text(): string {
    if (this.#record === undefined) throw new Error('the record of this session was not read yet');
    return this.#record;
  }
}

/**
 * When a session was modified, found without parsing its record, which costs five times as much. Undefined unless exactly
 * one member has this name: then it is the one of the summary, which always has it.
 */
function modifiedAtIn(record: string): string | undefined {
  const at = record.indexOf(MODIFIED_AT);
  if (at < 0 || record.includes(MODIFIED_AT, at + 1)) return undefined;
  const start = at + MODIFIED_AT.length;
  const found = record.slice(start, record.indexOf('"', start));
  return found.includes('\\') ? undefined : found;
}

/**
 * True for the record of a ready session. Inside a JSON string every quotation mark has a backslash, so a match is the
 * end of the record itself.
 */
function isReady(record: string): boolean {
  return record.endsWith(READY_END) && record.startsWith(RECORD_START);
}

/**
 * Records what an agent changes, and nothing that people change meanwhile. Before a call that may write, the folder is
 * looked at (or just the one file, where the tool names it), and again when the call is over. An agent that runs its own
 * tools is not seen that closely: there, the whole turn counts as one call.
 */
import { ErrorCode } from '@atrium/protocol';
import type { GateCall } from '../../extensions/extension.js';
import type { Logger } from '../../logger.js';
import { isRecord } from '../../tools/shape.js';
import { resolveTarget } from '../../tools/write-target.js';
import { RequestError } from '../../wire/request-error.js';
import { type BytePath, fromText } from '../byte-path.js';
import { capture } from '../capture.js';
import type { ContentStore } from '../content-store.js';
import { type Change, changeOf, type Entry, isSame } from '../entry.js';
import { SESSION_MAX_BYTES, STEP_MAX_FILES } from '../limits.js';
import type { Journal } from './journal.js';
import { type Found, Looks, type LooksParts } from './looks.js';

export interface RecorderParts extends LooksParts {
  readonly logger: Logger;
  journal(): Promise<Journal>;
  /** Where contents are kept for good. */
  readonly kept: ContentStore;
  /** Something new is in the journal. */
  changed(): void;
}

/** Tools of the host that change the one file that they name. */
const NAMES_ITS_FILE: ReadonlySet<string> = new Set(['write_file', 'edit_file']);

export class Recorder {
  readonly #parts: RecorderParts;
  readonly #looks: Looks;
  /** Looks, and changes for people, come one after the other. */
  #order: Promise<unknown> = Promise.resolve();
  /** What was begun and is not over. */
  readonly underWay = new Set<string>();

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#looks = new Looks(parts);
  }

  prepare(): void {
    this.#looks.prepare();
  }

  /** Waits until everything that was begun so far is in the journal. */
  async close(): Promise<void> {
    this.#looks.close();
    await this.#order;
  }

  /** Changes files for people: while nothing is recorded, and nothing begins to be before it is over. */
  quietly<T>(work: () => Promise<T>): Promise<T> {
    if (this.underWay.size === 0) return this.#inOrder(work);
    throw new RequestError(ErrorCode.TurnInProgress, 'the agent is changing files now: wait, or cancel its turn first');
  }

  /** Runs a call of a tool that may write. */
  async around<T>(call: GateCall, run: () => Promise<T>): Promise<T> {
    const file = await this.#namedFile(call);
    if (file) return this.#aroundFile(call.turnId, file, run);
    const end = await this.begin(call.turnId);
    try {
      return await run();
    } finally {
      await end();
    }
  }

  /** Begins a recording that somebody else ends. */
  async begin(turnId: string): Promise<() => Promise<void>> {
    const id = crypto.randomUUID();
    this.underWay.add(id);
    const why = await this.#inOrder(() => this.#begin(turnId, id));
    return async () => {
      await this.#inOrder(() => this.#end(turnId, id, why));
      this.underWay.delete(id);
      this.#parts.changed();
    };
  }

  /** Says why nothing can be recorded; undefined when it can. */
  async #begin(turnId: string, id: string): Promise<string | undefined> {
    try {
      await this.#looks.begin();
      await (await this.#parts.journal()).add({ kind: 'begun', turnId, id });
      return undefined;
    } catch (error) {
      return this.#failed(error);
    }
  }

  async #end(turnId: string, id: string, earlier: string | undefined): Promise<void> {
    try {
      await this.#looks.end((found) => this.#note(turnId, found, id));
    } catch (error) {
      const gap = `a call was not recorded: ${earlier ?? this.#failed(error)}`;
      await this.#note(turnId, { changes: [], gap }, id).catch((worse) => this.#failed(worse));
    }
  }

  async #aroundFile<T>(turnId: string, { root, path }: NamedFile, run: () => Promise<T>): Promise<T> {
    const before = await capture(root, path, this.#parts.kept);
    try {
      return await run();
    } finally {
      const after = await capture(root, path, this.#parts.kept);
      if (!isSame(before, after)) await this.#note(turnId, { changes: [changeOf(path, before, after)] });
      this.#parts.changed();
    }
  }

  async #namedFile({ toolName, owner, input, workingDirectory }: GateCall): Promise<NamedFile | undefined> {
    if (owner !== undefined || !NAMES_ITS_FILE.has(toolName) || !isRecord(input)) return undefined;
    const folder = await this.#parts.folder();
    // The tool will say what is wrong with the path.
    const target = await resolveTarget(workingDirectory, String(input.path)).catch(() => undefined);
    return folder && target && { root: folder.root, path: fromText(target.shown) };
  }

  async #note(turnId: string, { changes: all, gap }: Found, id: string = crypto.randomUUID()): Promise<void> {
    const journal = await this.#parts.journal();
    const isFull = journal.bytes > SESSION_MAX_BYTES;
    const some = all.slice(0, STEP_MAX_FILES);
    const changes = isFull ? some.map(withoutContents) : some;
    if (!isFull) await this.#keep(changes);
    const why = isFull ? FULL : all.length > STEP_MAX_FILES ? TOO_MANY : gap;
    await journal.add({ kind: 'step', turnId, id, changes, ...(why !== undefined && { gap: why }) });
  }

  /** What was only read to compare goes when the host does; what was changed stays. */
  async #keep(changes: readonly Change[]): Promise<void> {
    const folder = await this.#parts.folder();
    const entries = changes.flatMap(({ before, after }) => [before ?? [], after ?? []].flat());
    for (const { hash, isLost } of entries) if (folder && !isLost) await this.#parts.kept.take(folder.store, hash);
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#order.then(work);
    this.#order = mine.catch(() => {});
    return mine;
  }

  #failed(error: unknown): string {
    const message = error instanceof Error ? error.message : String(error);
    this.#parts.logger.log('warn', 'changes could not be recorded', { error: message });
    return message;
  }
}

interface NamedFile {
  readonly root: string;
  readonly path: BytePath;
}

const TOO_MANY = `a call changed more than ${STEP_MAX_FILES} files`;
const FULL = `${SESSION_MAX_BYTES / 2 ** 30} GiB are kept for this session already, and no more contents`;

function withoutContents({ path, before, after }: Change): Change {
  const lose = (entry: Entry | undefined) => entry && { ...entry, isLost: true as const };
  return changeOf(path, lose(before), lose(after));
}

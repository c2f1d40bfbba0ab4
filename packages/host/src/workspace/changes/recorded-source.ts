/** The view of what the agent changed in some turns, without the changes of people. */

import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import type { Work } from '@atrium/core/contracts/work.js';
import { lineDiff } from '@atrium/core/util/file-edit.js';
import { looksBinary, sizeText } from '@atrium/core/util/text.js';
import type { ChangesetOperation, ContentRef, FileEditDiff, FileEditSide } from '@atrium/protocol/ahp-1';
import { fileUri } from '../git/byte-path.js';
import { type Change, changeOf, type Entry, netOf } from './change.js';
import type { ChangeLog } from './change-log.js';
import { incomplete, type OperationTarget, type Shown, type ShownFile, type ViewSource } from './changeset-views.js';
import { CONTENT_MAX_BYTES, COUNTS_KEPT, DIFF_BUDGET_MS, DIFF_MAX_BYTES, VIEW_MAX_FILES } from './limits.js';
import { putBack, revert as takeBack, type UndoOptions } from './undo.js';
import { CONTENT_SCHEME } from './uri.js';

export interface RecordedOptions {
  readonly view: string;
  readonly blobs: BlobStore;
  readonly files: RecordedFiles;
  changeLog(): Promise<ChangeLog>;
  /** The turns that the view covers. */
  turns(changeLog: ChangeLog): readonly string[];
  /** Everything that changes in a turn counts as the agent's, whether or not the agent did it. */
  readonly countsWholeTurns: boolean;
  /** Recordings under way: their changes are not known yet, but will be. */
  inProgress(): ReadonlySet<string>;
  root(): Promise<string>;
  /** The further folders of the session. */
  further(): Promise<readonly string[]>;
  /** Runs work that changes files; fails while the agent is at work. */
  quietly<T>(work: () => Promise<T>): Promise<T>;
}

const REVERT: ChangesetOperation = {
  id: 'revert',
  label: 'Take back',
  description: 'Restores files to their earlier content. Changes that others made since stay.',
  scopes: ['changeset', 'resource', 'range'],
  confirmation:
    'Take back what the agent changed here? Changes that others made since stay, and you can put this back.',
  icon: 'discard',
  status: 'idle',
};

/** For an agent whose whole turns count as its changes, including what people changed meanwhile. */
const REVERT_TURNS: ChangesetOperation = {
  ...REVERT,
  description: 'Restores files to their content before the turn. Changes that people made since stay.',
  confirmation:
    'Take back everything that changed while the agent worked? That includes what you changed meanwhile. ' +
    'Changes from afterwards stay, and you can put this back.',
};

const REAPPLY: ChangesetOperation = {
  id: 'reapply',
  label: 'Put back',
  description: 'Puts back what was taken back last.',
  scopes: ['changeset'],
  icon: 'redo',
  status: 'idle',
};

const NOT_RECORDED: Shown = {
  files: [],
  operations: [],
  problem: { errorType: 'not-recorded', message: 'The changes of this turn were not recorded in this session.' },
};

export class RecordedSource implements ViewSource {
  readonly isOpenToAll = false;

  constructor(private readonly options: RecordedOptions) {}

  async show(): Promise<Shown> {
    const { files, view } = this.options;
    const changeLog = await this.options.changeLog();
    const turns = this.options.turns(changeLog);
    if (turns.some((turnId) => !changeLog.has(turnId))) return NOT_RECORDED;
    const root = await this.options.root();
    const nets = [...changeLog.segments(turns).values()].flatMap((segments) => netOf(segments) ?? []);
    const shifts = withRenames(nets.sort((a, b) => (a.path < b.path ? -1 : 1)));
    const shown = [];
    files.begin();
    for (const shift of shifts.slice(0, VIEW_MAX_FILES)) shown.push(await files.shown(root, shift));
    const gaps = changeLog.gaps(turns, this.options.inProgress());
    if (shifts.length > VIEW_MAX_FILES) gaps.push(`only ${VIEW_MAX_FILES} of ${shifts.length} files are shown`);
    const revert = this.options.countsWholeTurns ? REVERT_TURNS : REVERT;
    const operations = [...(nets.length > 0 ? [revert] : []), ...(changeLog.lastUndone(view) ? [REAPPLY] : [])];
    return { files: shown, operations, ...(gaps.length > 0 && { problem: incomplete(gaps.join('; ')) }) };
  }

  async run(operationId: string, target: OperationTarget | undefined, work: Work): Promise<string> {
    const options = { ...(await this.#undoOptions()), work };
    return this.options.quietly(async () => {
      if (operationId === REAPPLY.id) return (await putBack(options)).message;
      return takeBack(options, this.options.turns(options.changeLog), target);
    });
  }

  async #undoOptions(): Promise<UndoOptions> {
    const { blobs, view } = this.options;
    const [root, further] = [await this.options.root(), await this.options.further()];
    return { root, further, blobs, view, changeLog: await this.options.changeLog() };
  }
}

/** A change of a file that had another path before. */
export interface Shift extends Change {
  readonly from?: string;
}

/** A file that disappeared and one that appeared with the same content are one file with a new name. */
export function withRenames(changes: readonly Change[]): Shift[] {
  const gone = new Map(changes.flatMap((change) => (isGone(change) ? [[change.before?.hash, change]] : [])));
  const renamed = new Set<string>();
  const shifts = changes.map((change): Shift => {
    const old = change.before ? undefined : gone.get(change.after?.hash);
    if (!old) return change;
    gone.delete(change.after?.hash);
    renamed.add(old.path);
    return { ...changeOf(change.path, old.before, change.after), from: old.path };
  });
  return shifts.filter(({ path, after }) => after || !renamed.has(path));
}

/** Empty files are all alike, so none counts as renamed. */
function isGone({ before, after }: Change): boolean {
  return !after && before !== undefined && before.bytes > 0;
}

/** Changes as clients see them: where a file is, what it was, what it is now, and how many lines differ. */
export class RecordedFiles {
  readonly #counts = new Map<string, FileEditDiff | undefined>();
  #remaining = 0;

  constructor(
    private readonly key: string,
    private readonly blobs: BlobStore,
  ) {}

  /** A look begins. Comparing lines blocks the event loop, so its time is limited. */
  begin(): void {
    this.#remaining = DIFF_BUDGET_MS;
  }

  async shown(root: string, { path, from = path, before, after }: Shift): Promise<ShownFile> {
    const old = before && this.#side(fileUri(root, from), before);
    const fresh = after && this.#side(fileUri(root, path), after);
    const diff = await this.#diff(before, after);
    const edit = { ...(old && { before: old }), ...(fresh && { after: fresh }), ...(diff && { diff }) };
    const meta = metaOf(before, after);
    const id = fresh?.uri ?? old?.uri ?? '';
    return { file: { id, edit, ...(meta && { _meta: meta }) }, paths: [...new Set([from, path])] };
  }

  #side(uri: string, { hash, bytes, isLost }: Entry): FileEditSide {
    return { uri, content: isLost ? lostContent(bytes) : this.#content(hash, bytes) };
  }

  #content(hash: string, bytes: number): ContentRef {
    return { uri: `${CONTENT_SCHEME}/${this.key}/${hash}`, sizeHint: bytes };
  }

  /** Undefined unless both sides are text. */
  async #diff(before: Entry | undefined, after: Entry | undefined): Promise<FileEditDiff | undefined> {
    const key = `${before?.hash}:${after?.hash}`;
    if (this.#counts.has(key)) return this.#counts.get(key);
    const [old, fresh] = [await this.#text(before), await this.#text(after)];
    const isText = old !== undefined && fresh !== undefined;
    // The next look may have the time.
    if (isText && this.#remaining <= 0) return { added: linesIn(fresh), removed: linesIn(old) };
    const start = performance.now();
    const diff = isText ? lineDiff(old, fresh) : undefined;
    this.#remaining -= performance.now() - start;
    if (this.#counts.size >= COUNTS_KEPT) this.#counts.clear();
    this.#counts.set(key, diff);
    return diff;
  }

  async #text(entry: Entry | undefined): Promise<string | undefined> {
    if (!entry) return '';
    if (entry.isLost || entry.bytes > DIFF_MAX_BYTES) return undefined;
    const bytes = await this.blobs.get(entry.hash);
    return bytes && !looksBinary(bytes) ? bytes.toString('latin1') : undefined;
  }
}

/** A content that says why the real one is not stored, because clients can read every content. */
export function lostContent(bytes: number): ContentRef {
  const why = bytes > CONTENT_MAX_BYTES ? `it is larger than ${sizeText(CONTENT_MAX_BYTES)}` : 'a filter makes it';
  return textContent(`(This content was not kept: ${why}.)\n`);
}

export function textContent(text: string | Uint8Array): ContentRef {
  const bytes = Buffer.from(text as string);
  const uri = `data:text/plain;base64,${bytes.toString('base64')}`;
  return { uri, sizeHint: bytes.length, contentType: 'text/plain' };
}

/** Facts that the content does not show: that it is a link, that it is now executable, that it cannot be undone. */
function metaOf(before: Entry | undefined, after: Entry | undefined): Record<string, unknown> | undefined {
  const kinds = new Set([before?.kind ?? after?.kind, after?.kind ?? before?.kind]);
  const isLost = before?.isLost || after?.isLost;
  if (kinds.size === 1 && !kinds.has('link') && !isLost) return undefined;
  return {
    ...(before && { kindBefore: before.kind }),
    ...(after && { kindAfter: after.kind }),
    ...(isLost && { contentNotKept: true }),
  };
}

/** The last line may lack its line end. */
export function linesIn(text: string): number {
  const breaks = text.split('\n').length - 1;
  return text === '' || text.endsWith('\n') ? breaks : breaks + 1;
}

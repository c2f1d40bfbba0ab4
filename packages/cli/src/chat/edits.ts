/** The contents on both sides of an edit, fetched once, for diffs. */
import type { FileEdit, ToolCallState } from '@atrium/protocol';
import { type ContentPlace, contentText } from '../changes/contents.js';
import { nameIn } from '../changes/file-state.js';
import { type DiffLine, diffLines } from '../text/diff.js';
import { editsOf } from './call-view.js';

const KEPT_MAX = 100;

export interface EditDiff {
  readonly file: string;
  /** Absent while it is fetched, and when it cannot be. */
  readonly lines?: readonly DiffLine[];
  readonly added?: number | undefined;
  readonly removed?: number | undefined;
}

export interface EditsOptions extends ContentPlace {
  readonly onReady: () => void;
  /** Files are named within this folder: that of the session. */
  folder(): string | undefined;
}

export class Edits {
  readonly #options: EditsOptions;
  readonly #known = new Map<string, EditDiff[]>();

  constructor(options: EditsOptions) {
    this.#options = options;
  }

  /** The diffs of a call, as far as they are known by now. What a person was asked about stays as it was. */
  ofCall(call: ToolCallState): readonly EditDiff[] {
    const { toolCallId } = call;
    const edits = editsOf(call);
    const known = this.#known.get(toolCallId);
    if (known) return known;
    const diffs = edits.map((edit) => this.#summary(edit));
    this.#known.set(toolCallId, diffs);
    if (this.#known.size > KEPT_MAX) this.#known.delete([...this.#known.keys()][0] ?? '');
    void Promise.all(edits.map((edit, index) => this.#fetch(edit, diffs, index))).then(() => this.#options.onReady());
    return diffs;
  }

  /** What is known already; nothing is fetched. A file may have changed since an edit of long ago. */
  known(call: ToolCallState): readonly EditDiff[] {
    return this.#known.get(call.toolCallId) ?? editsOf(call).map((edit) => this.#summary(edit));
  }

  async #fetch(edit: FileEdit, diffs: EditDiff[], index: number): Promise<void> {
    const [before, after] = await Promise.all([
      contentText(this.#options, edit.before?.content),
      contentText(this.#options, edit.after?.content),
    ]);
    if (before !== undefined && after !== undefined)
      diffs[index] = { ...this.#summary(edit), lines: diffLines(before, after) };
  }

  #summary({ before, after, diff }: FileEdit): EditDiff {
    const file = nameIn((after ?? before)?.uri ?? '', this.#options.folder());
    return { file, added: diff?.added, removed: diff?.removed };
  }
}

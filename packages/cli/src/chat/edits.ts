/** The contents on both sides of an edit, fetched once, for diffs. */
import { type FileEdit, type ShownEdit, type ToolCallState, toolInputObject } from '@atrium/protocol/ahp-1';
import { type ContentSource, contentText, nameIn, pathIn } from '../changes/changes-view.js';
import { type DiffLine, diffLines } from '../text/diff.js';
import { editsOf } from './call-view.js';
import { referencedInput } from './tool-inputs.js';

const MENTIONS_MAX = 100;

export interface EditDiff {
  readonly file: string;
  /** The raw name, including invisible characters. */
  readonly path?: string;
  /** Absent until the content has arrived, and when it is unreadable. */
  readonly lines?: readonly DiffLine[];
  /** The texts that the lines come from. */
  readonly texts?: ShownEdit;
  /** Whether the content is still on its way. */
  readonly isLoading?: boolean;
  readonly added?: number | undefined;
  readonly removed?: number | undefined;
}

interface EditsOptions extends ContentSource {
  readonly onReady: () => void;
  /** Files are named within this folder: that of the session. */
  folder(): string | undefined;
}

export class Edits {
  readonly #options: EditsOptions;
  readonly #known = new Map<string, { readonly edits: string; readonly diffs: EditDiff[] }>();

  constructor(options: EditsOptions) {
    this.#options = options;
  }

  /** The diffs of a call, as far as they have arrived. They stay the same while the call asks a person. */
  ofCall(call: ToolCallState): readonly EditDiff[] {
    const { toolCallId } = call;
    const edits = editsOf(call);
    const known = this.#known.get(toolCallId);
    const key = JSON.stringify(edits);
    // A call that asks again may have other edits.
    if (known && (call.status !== 'pending-confirmation' || known.edits === key)) return known.diffs;
    const diffs = edits.map((edit) => ({ ...this.#summary(edit), isLoading: true }));
    this.#known.set(toolCallId, { edits: key, diffs });
    if (this.#known.size > MENTIONS_MAX) this.#known.delete([...this.#known.keys()][0] ?? '');
    void Promise.all(edits.map((edit) => this.#fetched(edit, call))).then((fetched) => {
      if (this.#known.get(toolCallId)?.diffs === diffs) this.#known.set(toolCallId, { edits: key, diffs: fetched });
      this.#options.onReady();
    });
    return diffs;
  }

  /** Only the diffs that have arrived. Fetches nothing, because a file may have changed since an old edit. */
  known(call: ToolCallState): readonly EditDiff[] {
    return this.#known.get(call.toolCallId)?.diffs ?? editsOf(call).map((edit) => this.#summary(edit));
  }

  async #fetched(edit: FileEdit, call: ToolCallState): Promise<EditDiff> {
    const summary = this.#summary(edit);
    const [before, after] = await Promise.all([
      contentText(this.#options, edit.before?.content),
      isComing(edit, call) ? comingText(this.#options, call) : contentText(this.#options, edit.after?.content),
    ]);
    if (before === undefined || after === undefined) return summary;
    const uri = (edit.after ?? edit.before)?.uri ?? '';
    return { ...summary, lines: diffLines(before, after), texts: { uri, before, after } };
  }

  #summary({ before, after, diff }: FileEdit): EditDiff {
    const uri = (after ?? before)?.uri ?? '';
    const file = nameIn(uri, this.#options.folder());
    return {
      file,
      path: pathIn(uri, this.#options.folder()) ?? decoded(uri),
      added: diff?.added,
      removed: diff?.removed,
    };
  }
}

/**
 * Content that is too long to travel with the edit is named by its file, which does not hold it before the call has
 * run. Until then only the input has the content.
 */
function isComing({ after }: FileEdit, { status }: ToolCallState): boolean {
  return status === 'pending-confirmation' && after !== undefined && after.content.uri === after.uri;
}

async function comingText(source: ContentSource, call: ToolCallState): Promise<string | undefined> {
  const input = 'toolInput' in call ? call.toolInput : undefined;
  const text = typeof input === 'object' ? await referencedInput(source, input) : input;
  const content = toolInputObject(text ?? '')?.content;
  return typeof content === 'string' ? content : undefined;
}

function decoded(uri: string): string {
  try {
    return decodeURIComponent(uri.replace(/^file:\/\//, ''));
  } catch {
    return uri;
  }
}

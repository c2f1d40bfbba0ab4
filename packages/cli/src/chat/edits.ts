/** The contents on both sides of an edit, fetched once, for diffs. */
import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from '@atrium/client';
import type { ContentRef, FileEdit, ToolCallState } from '@atrium/protocol';
import { folderText } from '../sessions/words.js';
import { type DiffLine, diffLines } from '../text/diff.js';
import { editsOf } from './call-view.js';

/** Larger files have no diff here, only the number of lines. */
const CONTENT_MAX_BYTES = 512 * 1024;
const KEPT_MAX = 100;

export interface EditDiff {
  readonly file: string;
  /** Absent while it is fetched, and when it cannot be. */
  readonly lines?: readonly DiffLine[];
  readonly added?: number | undefined;
  readonly removed?: number | undefined;
}

export interface EditsOptions {
  readonly client: Client;
  /** Whether the host's files are those of this machine. */
  readonly isLocal: boolean;
  readonly onReady: () => void;
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
    const diffs = edits.map(summaryOf);
    this.#known.set(toolCallId, diffs);
    if (this.#known.size > KEPT_MAX) this.#known.delete([...this.#known.keys()][0] ?? '');
    void Promise.all(edits.map((edit, index) => this.#fetch(edit, diffs, index))).then(() => this.#options.onReady());
    return diffs;
  }

  /** What is known already; nothing is fetched. A file may have changed since an edit of long ago. */
  known(call: ToolCallState): readonly EditDiff[] {
    return this.#known.get(call.toolCallId) ?? editsOf(call).map(summaryOf);
  }

  async #fetch(edit: FileEdit, diffs: EditDiff[], index: number): Promise<void> {
    const [before, after] = await Promise.all([this.#text(edit.before?.content), this.#text(edit.after?.content)]);
    if (before !== undefined && after !== undefined)
      diffs[index] = { ...summaryOf(edit), lines: diffLines(before, after) };
  }

  async #text(content: ContentRef | undefined): Promise<string | undefined> {
    if (content === undefined) return '';
    const inline = /^data:[^,]*;base64,(.*)$/s.exec(content.uri)?.[1];
    if (inline !== undefined) return Buffer.from(inline, 'base64').toString('utf8');
    try {
      const { data, encoding } = await this.#options.client.request('resourceRead', { uri: content.uri });
      return encoding === 'base64' ? Buffer.from(data, 'base64').toString('utf8') : data;
    } catch {
      return this.#options.isLocal ? localText(content.uri) : undefined;
    }
  }
}

async function localText(uri: string): Promise<string | undefined> {
  try {
    const file = fileURLToPath(uri);
    return (await stat(file)).size > CONTENT_MAX_BYTES ? undefined : await readFile(file, 'utf8');
  } catch {
    return undefined;
  }
}

function summaryOf({ before, after, diff }: FileEdit): EditDiff {
  return { file: folderText((after ?? before)?.uri), added: diff?.added, removed: diff?.removed };
}

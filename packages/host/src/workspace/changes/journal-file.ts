/** What is remembered of a session's changes: one file to which lines are added, so that no crash takes more than one. */
import { appendFile, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '../../core/util/folders.js';
import { isRecord } from '../../core/util/shape.js';
import { type JournalLine, KINDS } from './change-log.js';
import { JOURNAL_HEAD_MAX_BYTES } from './limits.js';

export class JournalFile {
  /** Lines come one after the other. */
  #writing: Promise<void> = Promise.resolve();

  constructor(private readonly file: string) {}

  /** Lines that are damaged are left out; only the last one can be, after a crash. */
  async read(): Promise<JournalLine[]> {
    const text = await readFile(this.file, 'utf8').catch(ifMissing);
    return (text ?? '').split('\n').flatMap(parsed);
  }

  /** The first line alone; undefined when there is none. */
  async readFirst(): Promise<JournalLine | undefined> {
    const handle = await open(this.file).catch(ifMissing);
    if (!handle) return undefined;
    try {
      const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(JOURNAL_HEAD_MAX_BYTES) });
      const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
      return lines.flatMap(parsed)[0];
    } finally {
      await handle.close();
    }
  }

  append(line: JournalLine): Promise<void> {
    this.#writing = this.#writing
      .catch(() => {})
      .then(async () => {
        await makeFolder(path.dirname(this.file), { mode: 0o700 });
        // The line break stands first, so that half a line before it does no harm.
        await appendFile(this.file, `\n${JSON.stringify(line)}`, { mode: 0o600, flush: true });
      });
    return this.#writing;
  }
}

/** A journal that cannot be read is not one that is not there. */
function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

function parsed(text: string): JournalLine[] {
  if (text === '') return [];
  try {
    const line: unknown = JSON.parse(text);
    return isRecord(line) && KINDS.has(line.kind) ? [line as unknown as JournalLine] : [];
  } catch {
    return [];
  }
}

/** Brings pictures and files of this machine into the message that the person is writing. */
import path from 'node:path';
import {
  isPicture,
  MESSAGE_CONTENTS_MAX,
  type MessageAttachment,
  pictureOf,
  pictureSize,
  typeOfBeginning,
} from '@atrium/protocol/ahp-1';
import { pictureWords } from '../text/picture-words.js';
import { printable } from '../text/printable.js';
import { cut } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import type { Mentions } from './completer.js';
import { pastedFiles } from './pasted-files.js';

interface Stored {
  readonly attachment: MessageAttachment;
  readonly note?: string | undefined;
}

export interface AttachingOptions {
  readonly home: string;
  /** Stores a file at the host. */
  storeFile(file: string): Promise<Stored>;
  /** Stores the picture in the clipboard at the host; undefined if there is none. */
  storeClipboard(): Promise<Stored | undefined>;
  /** Says why the model would not see a picture; undefined if it would. */
  unseen(): string | undefined;
  note(text: string): void;
  changed(): void;
  /** Every file that was on its way has arrived or failed. */
  settled(isComplete: boolean): void;
}

export class Attaching {
  readonly #options: AttachingOptions;
  readonly #mentions: Mentions;
  /** The names of the files that the host has not stored yet. */
  readonly #coming = new Map<symbol, string>();
  #isComplete = true;

  constructor(options: AttachingOptions, mentions: Mentions) {
    this.#options = options;
    this.#mentions = mentions;
  }

  get isBusy(): boolean {
    return this.#coming.size > 0;
  }

  get isEmpty(): boolean {
    return this.#coming.size === 0 && this.#mentions.carried.length === 0;
  }

  /** Attaches the files if a pasted text consists of their names; false if it does not. */
  paste(text: string): boolean {
    const files = pastedFiles(text, this.#options.home);
    for (const file of files) this.#bring(path.basename(file), () => this.#options.storeFile(file));
    return files.length > 0;
  }

  pasteClipboard(): void {
    this.#bring('clipboard', async () => {
      const stored = await this.#options.storeClipboard();
      if (!stored) this.#options.note('There is no picture in the clipboard.');
      return stored;
    });
  }

  /** Removes the last attachment. False when there is none. */
  removeLast(): boolean {
    const last = [...this.#coming.keys()].at(-1);
    const { carried } = this.#mentions;
    if (last) this.#arrived(last);
    else this.#mentions.carry(carried.slice(0, -1));
    return last !== undefined || carried.length > 0;
  }

  clear(): void {
    this.#coming.clear();
    this.#mentions.carry([]);
  }

  lines({ style, columns }: ViewOptions): string[] {
    if (this.isEmpty) return [];
    const { carried } = this.#mentions;
    const names = [
      ...carried.map(attachmentWords),
      ...[...this.#coming.values()].map((name) => `${printable(name)}: attaching…`),
    ];
    const unseen = carried.some(isPicture) ? this.#options.unseen() : undefined;
    return [
      ...names.map((name) => style.cyan(cut(`  + ${name}`, columns))),
      ...(unseen === undefined ? [] : [style.yellow(cut(`  ${printable(unseen)}`, columns))]),
      style.dim(cut('  Backspace before the text takes the last one away', columns)),
    ];
  }

  #bring(name: string, store: () => Promise<Stored | undefined>): void {
    const { note, changed } = this.#options;
    if (this.#coming.size + this.#mentions.carried.length >= MESSAGE_CONTENTS_MAX)
      return note(`A message takes ${MESSAGE_CONTENTS_MAX} files at most: ${name} is not attached.`);
    const id = Symbol(name);
    if (!this.isBusy) this.#isComplete = true;
    this.#coming.set(id, name);
    store().then(
      (stored) => this.#arrived(id, stored),
      (error: unknown) => {
        if (this.#coming.has(id)) note(`Not attached: ${error instanceof Error ? error.message : String(error)}`);
        this.#arrived(id);
      },
    );
    changed();
  }

  /** Ignores an attachment that the person has removed meanwhile. */
  #arrived(id: symbol, stored?: Stored): void {
    if (!this.#coming.delete(id)) return;
    if (stored) this.#mentions.carry([...this.#mentions.carried, stored.attachment]);
    else this.#isComplete = false;
    if (stored?.note !== undefined) this.#options.note(stored.note);
    if (!this.isBusy) this.#options.settled(this.#isComplete);
    this.#options.changed();
  }
}

function attachmentWords(attachment: MessageAttachment): string {
  const { label } = attachment;
  if (attachment.type !== 'resource') return printable(label);
  const { contentType, sizeHint } = attachment;
  return pictureWords({ name: label, contentType, size: pictureSize(attachment), bytes: sizeHint });
}

/** `clipboard.png`, with the extension that fits the bytes. */
export function clipboardName(bytes: Uint8Array): string {
  const type = pictureOf(bytes)?.contentType ?? typeOfBeginning(bytes) ?? 'image/png';
  return `clipboard.${type.replace(/^image\//, '').replace('jpeg', 'jpg')}`;
}

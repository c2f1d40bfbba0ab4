/** Completion of the word at the cursor: commands of the chat, and what the host finds for `@`, `#` and `/`. */
import {
  type ArgumentFacts,
  type CompletionItem,
  commandSource,
  completeCommand,
  fileArgument,
  type MessageAttachment,
} from '@atrium/protocol/ahp-1';
import { printable } from '../text/printable.js';
import { cut, padded, widthOf } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import type { Editor } from './editor.js';

/** The pause before a request, so that fast typing causes only one. */
const ASK_AFTER_MS = 60;
/** The chat does not send a longer text with every letter. */
const TEXT_MAX_CHARACTERS = 50_000;
const WORD_MAX_CHARACTERS = 500;

/** One choice, with the text that it produces. */
interface Choice {
  readonly label: string;
  readonly about: string;
  readonly text: string;
  readonly cursor: number;
  readonly item?: CompletionItem;
}

export interface CompleterOptions {
  readonly editor: Editor;
  readonly mentions: Mentions;
  /** The characters after which the host completes words. */
  triggers(): readonly string[];
  find(text: string, offset: number): Promise<readonly CompletionItem[]>;
  /** For the arguments of commands. */
  facts(): ArgumentFacts;
  changed(): void;
}

interface Found {
  readonly text: string;
  readonly cursor: number;
  readonly items: readonly CompletionItem[];
}

export class Completer {
  readonly #options: CompleterOptions;
  #found: Found | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Tab was pressed before the host had answered. */
  #isWanted = false;
  /** The choices that Tab goes through, and the one that is in the line now. */
  #round: { readonly choices: readonly Choice[]; index: number } | undefined;

  constructor(options: CompleterOptions) {
    this.#options = options;
  }

  /** The current choices, and the one that is already in the line. */
  get menu(): { readonly choices: readonly Choice[]; readonly index: number | undefined } {
    if (this.#round) return this.#round;
    return { choices: this.#choices(), index: undefined };
  }

  /** The text has changed: asks the host again if the text can be completed. */
  follow(): void {
    clearTimeout(this.#timer);
    this.#round = undefined;
    this.#isWanted = false;
    if (this.#isMention()) this.#timer = setTimeout(() => void this.#ask(), ASK_AFTER_MS);
    else this.#found = undefined;
  }

  /** Tab takes the first choice, then the next one; with Shift, the previous one. */
  press(by: 1 | -1): void {
    if (this.#round) return this.#take(this.#round.index + by);
    const choices = this.#choices();
    if (choices.length > 0) {
      this.#round = { choices, index: 0 };
      return this.#take(by === 1 ? 0 : choices.length - 1);
    }
    if (!this.#isMention()) return;
    this.#isWanted = true;
    clearTimeout(this.#timer);
    void this.#ask();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #take(index: number): void {
    const round = this.#round;
    if (!round) return;
    const { choices } = round;
    round.index = (index + choices.length) % choices.length;
    const choice = choices[round.index];
    if (!choice) return;
    const { editor, mentions } = this.#options;
    editor.set(choice.text);
    editor.cursor = choice.cursor;
    if (choice.item && !fileArgument(choice.text, choice.cursor - 1))
      mentions.add(choice.item.insertText, choice.item.attachment);
    if (choices.length === 1) this.#round = undefined;
    this.#found = undefined;
  }

  #isMention(): boolean {
    const { text, cursor } = this.#options.editor;
    if (text.length > TEXT_MAX_CHARACTERS) return false;
    if (fileArgument(text, cursor)) return true;
    const [word = ''] = /[^\s([{"'`]*$/.exec(text.slice(Math.max(0, cursor - WORD_MAX_CHARACTERS), cursor)) ?? [];
    return this.#options.triggers().some((trigger) => trigger !== '' && word.startsWith(trigger));
  }

  async #ask(): Promise<void> {
    const { editor, find, changed } = this.#options;
    const { text, cursor } = editor;
    const file = fileArgument(text, cursor);
    const asked = file ? filesFor(file, find) : find(text, cursor);
    const items = await asked.catch(() => []);
    if (editor.text !== text || editor.cursor !== cursor || this.#round) return;
    this.#found = { text, cursor, items };
    if (this.#isWanted && items.length > 0) this.press(1);
    changed();
  }

  #choices(): Choice[] {
    const { text, cursor } = this.#options.editor;
    const own = completeCommand(text, cursor, this.#options.facts());
    const found = this.#found?.text === text && this.#found.cursor === cursor ? this.#found.items : [];
    return [...own, ...found.map((item) => choiceOf(item, text, cursor))];
  }
}

/** Completes the name of a file for a command, by asking the host for a mention of it. */
async function filesFor(
  { word, start }: { readonly word: string; readonly start: number },
  find: CompleterOptions['find'],
): Promise<CompletionItem[]> {
  const mention = `@${word}`;
  const items = await find(mention, mention.length);
  return items.flatMap((item) =>
    item.attachment.type === 'resource'
      ? [{ ...item, insertText: item.insertText.slice(1), rangeStart: start, rangeEnd: start + word.length }]
      : [],
  );
}

function choiceOf(item: CompletionItem, text: string, at: number): Choice {
  const { insertText, rangeStart = at, rangeEnd = at, attachment } = item;
  const label = insertText.trim();
  const rest = text.slice(rangeEnd);
  const source = commandSource(attachment._meta);
  const kind = source === undefined ? attachment.displayKind : `${attachment.displayKind ?? 'command'} of ${source}`;
  const about = attachment.label === label.slice(1) ? (kind ?? '') : attachment.label;
  return {
    label: printable(label),
    about: printable(about),
    text: text.slice(0, rangeStart) + insertText + (insertText.endsWith(' ') ? rest.replace(/^ /, '') : rest),
    cursor: rangeStart + insertText.length,
    item,
  };
}

/** How many mentions a long chat keeps: the latest ones. */
const MENTIONS_MAX = 200;
/** The characters that may surround a mention. */
const BEFORE = /^$|[\s([{"'`]$/;
const AFTER = /^(?:$|[\s)\]}"'`.,;:!?])/;

export class Mentions {
  readonly #taken = new Map<string, MessageAttachment>();
  #carried: readonly MessageAttachment[] = [];

  add(word: string, attachment: MessageAttachment): void {
    const token = word.trim();
    if (token === '') return;
    this.#taken.delete(token);
    this.#taken.set(token, attachment);
    if (this.#taken.size > MENTIONS_MAX) this.#taken.delete([...this.#taken.keys()][0] ?? '');
  }

  /**
   * Attachments that do not depend on the text: attached files, and those of a message that came back into the line.
   */
  get carried(): readonly MessageAttachment[] {
    return this.#carried;
  }

  carry(attachments: readonly MessageAttachment[]): void {
    this.#carried = attachments;
  }

  /** The attachments of a text, exactly as the host sent them. */
  take(text: string): MessageAttachment[] {
    const carried = this.#carried;
    this.#carried = [];
    const known = new Set(carried.map((each) => JSON.stringify(each)));
    const named = [...this.#taken].flatMap(([word, attachment]) => (has(text, word) ? [attachment] : []));
    return [...carried, ...named.filter((each) => !known.has(JSON.stringify(each)))];
  }
}

function has(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const end = at + word.length;
    if (BEFORE.test(text.slice(Math.max(0, at - 1), at)) && AFTER.test(text.slice(end, end + 1))) return true;
  }
  return false;
}

// The menu below the line.

/** Rows of a chat that are not the menu. */
const OTHER_ROWS = 8;
const ROWS_MIN = 4;
/** A label takes at most this part of a narrow window. */
const LABEL_SHARE = 0.5;

interface Menu {
  readonly choices: readonly Choice[];
  /** The choice that is already in the line. */
  readonly index: number | undefined;
}

export function menuLines({ choices, index }: Menu, { style, columns, rows = 24 }: ViewOptions): string[] {
  const most = Math.max(ROWS_MIN, rows - OTHER_ROWS);
  const from = Math.max(0, Math.min((index ?? 0) - most + 1, choices.length - most));
  const shown = choices.slice(from, from + most);
  const width = Math.min(Math.floor(columns * LABEL_SHARE), Math.max(0, ...shown.map(({ label }) => widthOf(label))));
  const lines = shown.map(({ label, about }, at) => {
    const isHere = at + from === index;
    const tab = index === undefined && at === 0 ? '  (Tab)' : '';
    const text = cut(`${isHere ? '›' : ' '} ${padded(cut(label, width), width)}  ${about}${tab}`.trimEnd(), columns);
    return isHere ? style.bold(text) : style.dim(text);
  });
  const hidden = choices.length - shown.length;
  return [...lines, ...(hidden > 0 ? [style.dim(`  … ${hidden} more: type on, or Tab again`)] : [])];
}

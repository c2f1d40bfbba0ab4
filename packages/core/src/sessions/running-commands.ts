/**
 * What the log keeps about a command while it runs, beside the call in the session: the output of its terminal, and a
 * mark by which its processes are found. After a restart, a host that was killed learns from it what became of the
 * command. Once the call has a result, the result says all of this, and the records go.
 */
import { randomUUID } from 'node:crypto';
import type { Writer } from '../channels/writer.js';
import { type RunningCommand, SHELL_GRACE_MS, SHELL_OUTPUT_MAX_BYTES } from '../contracts/tool.js';
import { jsonText, type Log } from '../log/log.js';
import type { Clock } from '../util/clock.js';
import { endGroup, groupsWith } from '../util/processes.js';

/** How much output of a running command is stored: as much as the result of a finished one holds. */
export const STORED_OUTPUT_MAX_CHARACTERS = SHELL_OUTPUT_MAX_BYTES;
/**
 * Output is stored in blocks of this length. The newest block is written again with each piece of output until it is
 * full.
 */
export const STORED_BLOCK_CHARACTERS = 8 * 2 ** 10;

/** This variable is in the environment of every process of a command. */
export const CALL_VARIABLE = 'AGENT_CALL_ID';

const COMMAND = 'command:';
const OUTPUT = 'command-output:';
/** Digits of a block's number, so that blocks are listed in the order in which they were written. */
const BLOCK_DIGITS = 9;

export interface CommandKey {
  /** The session for calls of its default chat, otherwise the chat. Ids of calls are unique only within a turn. */
  readonly owner: string;
  readonly toolCallId: string;
}

interface Block {
  readonly key: string;
  text: string;
  isStored: boolean;
}

/** A command that is running. */
export class StoredCommand implements RunningCommand {
  readonly #writer: Pick<Writer, 'record' | 'afterFailure'>;
  readonly #key: CommandKey;
  #mark: string | undefined;
  #isMarkStored = false;
  #blocks: Block[] = [];
  #size = 0;
  #written = 0;
  /** True after the call has ended. A cancelled tool may go on for a moment, but its output no longer matters. */
  #isOver = false;

  constructor(writer: Pick<Writer, 'record' | 'afterFailure'>, command: CommandKey) {
    this.#writer = writer;
    this.#key = command;
  }

  environment(): Record<string, string> {
    return { [CALL_VARIABLE]: this.#begin() };
  }

  #begin(): string {
    this.#mark ??= randomUUID();
    if (!this.#isMarkStored) {
      this.#isMarkStored = true;
      this.#writer.record({ key: commandKey(this.#key), value: jsonText({ mark: this.#mark }) });
      this.#writer.afterFailure(() => this.#notStored());
    }
    return this.#mark;
  }

  output(text: string): void {
    if (this.#isOver) return;
    const last = this.#blocks.at(-1);
    this.#size += text.length;
    if (last && last.text.length < STORED_BLOCK_CHARACTERS) {
      last.text += text;
      last.isStored = false;
    } else this.#blocks.push({ key: this.#nextKey(), text, isStored: false });
  }

  store(): void {
    if (this.#isOver) return;
    this.#begin();
    this.#dropOldest();
    const fresh = this.#blocks.filter(({ isStored }) => !isStored);
    for (const block of fresh) {
      block.isStored = true;
      this.#writer.record({ key: block.key, value: jsonText(block.text) });
    }
    if (fresh.length > 0) this.#writer.afterFailure(() => this.#notStored());
  }

  /** Removes the records: the call has a result, or needs none. */
  forget(): void {
    if (this.#mark !== undefined) this.#writer.record({ key: commandKey(this.#key), value: null });
    for (const { key } of this.#blocks) this.#writer.record({ key, value: null });
    this.#blocks = [];
    this.#isOver = true;
  }

  #nextKey(): string {
    return `${OUTPUT}${this.#begin()} ${String(this.#written++).padStart(BLOCK_DIGITS, '0')}`;
  }

  #dropOldest(): void {
    for (;;) {
      const [oldest] = this.#blocks;
      if (!oldest || this.#size - oldest.text.length < STORED_OUTPUT_MAX_CHARACTERS) break;
      this.#blocks.shift();
      this.#size -= oldest.text.length;
      this.#writer.record({ key: oldest.key, value: null });
    }
    const [first] = this.#blocks;
    // A single block can exceed the limit: a fast program fills it at once.
    if (!first || this.#blocks.length > 1 || first.text.length <= STORED_OUTPUT_MAX_CHARACTERS) return;
    first.text = first.text.slice(-STORED_OUTPUT_MAX_CHARACTERS);
    this.#size = first.text.length;
  }

  #notStored(): void {
    this.#isMarkStored = false;
    for (const block of this.#blocks) block.isStored = false;
  }
}

/** A command whose host was killed. */
export interface InterruptedCommand {
  /** The raw output of its terminal; empty when it had no terminal or no output. */
  readonly output: string;
  /** `unknown` when the system does not tell which processes belong to the command. */
  readonly processes: 'gone' | 'ended' | 'unknown';
}

/** The commands that the last host left behind. Reading one ends its processes that still run. */
export class InterruptedCommands {
  readonly #byKey = new Map<string, InterruptedCommand>();
  readonly #keys: string[] = [];

  async load(log: Log, clock: Clock): Promise<void> {
    const outputs = await log.records(OUTPUT);
    this.#keys.push(...outputs.map(({ key }) => key));
    for (const { key, value } of await log.records(COMMAND)) {
      const { mark } = JSON.parse(value) as { mark: string };
      const blocks = outputs.filter((block) => block.key.startsWith(`${OUTPUT}${mark} `));
      const output = blocks.map((block) => JSON.parse(block.value) as string).join('');
      this.#byKey.set(key.slice(COMMAND.length), { output, processes: await endLeftovers(mark, clock) });
      this.#keys.push(key);
    }
  }

  of(command: CommandKey): InterruptedCommand | undefined {
    return this.#byKey.get(keyText(command));
  }

  /** Removes the records: the calls now say what is known. */
  forget(writer: Pick<Writer, 'record'>): void {
    for (const key of this.#keys) writer.record({ key, value: null });
  }
}

/**
 * Ends leftover processes. The mark is a random text in the environment of this command only, so a process that has it
 * certainly belongs to the command.
 */
async function endLeftovers(mark: string, clock: Clock): Promise<InterruptedCommand['processes']> {
  if (process.platform !== 'linux') return 'unknown';
  const groups = await groupsWith(CALL_VARIABLE, mark);
  for (const group of groups) await endGroup(group, clock, SHELL_GRACE_MS);
  return groups.size > 0 ? 'ended' : 'gone';
}

function commandKey(command: CommandKey): string {
  return COMMAND + keyText(command);
}

function keyText({ owner, toolCallId }: CommandKey): string {
  return `${owner} ${toolCallId}`;
}

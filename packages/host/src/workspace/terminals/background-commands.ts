/**
 * Commands that a model started in the background. Each runs in a terminal that people can watch and end. The model
 * lists them, reads their output from a mark on, stops them, and hears when one ends: with the result of its next call,
 * when it is about to stop, or with the next message. They end with their session, and with the host.
 */
import type { Extension } from '@atrium/core/contracts/extension.js';
import type { BackgroundCommand, BackgroundOutput, BackgroundPort } from '@atrium/core/contracts/tool.js';
import { ToolFailure } from '@atrium/core/contracts/tool.js';
import type { Clock } from '@atrium/core/util/clock.js';
import { PlainLines } from '@atrium/core/util/plain-text.js';
import { shorten } from '@atrium/core/util/text.js';
import type { Terminal } from './terminal.js';
import type { TerminalEnd } from './terminal-process.js';

/** How many commands of one session may run in the background at the same time. */
export const BACKGROUND_RUNNING_MAX = 8;
/** How many ended commands of one session keep readable output. */
export const BACKGROUND_ENDED_MAX = 8;
/** How much of the end of a command's output is kept. */
export const BACKGROUND_OUTPUT_MAX_CHARACTERS = 256 * 2 ** 10;
/** How much one reading returns; the next one continues from there. */
export const BACKGROUND_READ_MAX_CHARACTERS = 30_000;
/** How much of the last output the note about the end shows. */
const LAST_OUTPUT_CHARACTERS = 1_000;

type Runner = Pick<Terminal, 'uri' | 'ended' | 'end'> & { readonly screen: Pick<Terminal['screen'], 'onOutput'> };

interface Started {
  readonly session: string;
  readonly chat: string;
  readonly command: string;
  readonly startedAt: number;
  readonly terminal: Runner;
}

export class BackgroundCommands {
  readonly #clock: Pick<Clock, 'now' | 'after'>;
  readonly #all = new Map<string, Entry[]>();
  /** How many commands each session has started, for their ids. */
  readonly #counts = new Map<string, number>();

  constructor(clock: Pick<Clock, 'now' | 'after'>) {
    this.#clock = clock;
  }

  has(session: string): boolean {
    return this.#all.has(session);
  }

  /** Throws when too many run; call it before starting one. */
  checkRoom(session: string): void {
    const running = this.#of(session).filter(({ end }) => !end).length;
    if (running < BACKGROUND_RUNNING_MAX) return;
    const advice = 'Stop one with background_stop, or wait for one to end.';
    throw new ToolFailure('TOO_MANY', `${BACKGROUND_RUNNING_MAX} commands run in the background. ${advice}`);
  }

  add(started: Started): BackgroundCommand {
    const { session } = started;
    const number = (this.#counts.get(session) ?? 0) + 1;
    this.#counts.set(session, number);
    const entry = new Entry(`b${number}`, started, this.#clock);
    const all = [...this.#of(session), entry];
    const ended = all.filter(({ end }) => end);
    const forgotten = new Set(ended.slice(0, Math.max(0, ended.length - BACKGROUND_ENDED_MAX)));
    this.#all.set(
      session,
      all.filter((one) => !forgotten.has(one)),
    );
    return entry.about();
  }

  /** The session has ended for good. */
  forget(session: string): void {
    this.#all.delete(session);
    this.#counts.delete(session);
  }

  port(session: string): Omit<BackgroundPort, 'start'> {
    return {
      list: () => this.#of(session).map((entry) => entry.about()),
      read: (id, options) => this.#find(session, id).read(options),
      stop: async (id) => {
        const entry = this.#find(session, id);
        await entry.stop();
        return entry.about();
      },
    };
  }

  /** Tells the agent of commands that have ended. */
  extension(session: string): Extension {
    const chats = new Map<string, string>();
    const untold = (chat: string | undefined): string | undefined => {
      const ended = this.#of(session).filter((entry) => entry.end && !entry.isReported && entry.chat === chat);
      for (const entry of ended) entry.isReported = true;
      return ended.length === 0 ? undefined : ended.map((entry) => entry.endText()).join('\n\n');
    };
    return {
      id: 'host:background-commands',
      name: 'background commands',
      beforeTurn: async ({ chat, turnId }) => {
        chats.clear();
        chats.set(turnId, chat);
        const context = untold(chat);
        return context === undefined ? undefined : { context };
      },
      afterCall: async ({ chat }) => untold(chat),
      beforeEnd: async ({ turnId }) => untold(chats.get(turnId)),
    };
  }

  #of(session: string): Entry[] {
    return this.#all.get(session) ?? [];
  }

  #find(session: string, id: string): Entry {
    const all = this.#of(session);
    const found = all.find((entry) => entry.id === id);
    if (found) return found;
    const known = all.map((entry) => entry.id).join(', ') || 'none';
    throw new ToolFailure('NOT_FOUND', `There is no background command ${shorten(id, 40)}. There are: ${known}.`);
  }
}

/** One command, and the end of its output. */
class Entry {
  readonly chat: string;
  end: TerminalEnd | undefined;
  /** The agent has been told of the end. */
  isReported = false;
  readonly #started: Started;
  #kept = '';
  #dropped = 0;
  readonly #listeners = new Set<() => void>();

  constructor(
    readonly id: string,
    started: Started,
    private readonly clock: Pick<Clock, 'after'>,
  ) {
    this.#started = started;
    this.chat = started.chat;
    const { terminal } = started;
    const lines = new PlainLines();
    terminal.screen.onOutput = (text) => this.#take(lines.push(text));
    void terminal.ended.then((end) => {
      this.#take(lines.end());
      this.end = end;
      terminal.screen.onOutput = undefined;
      this.#tell();
    });
  }

  about(): BackgroundCommand {
    const { command, startedAt, terminal } = this.#started;
    const end = this.end && { code: this.end.exitCode, ...(this.end.signal && { signal: this.end.signal.name }) };
    const mark = this.#dropped + this.#kept.length;
    return { id: this.id, command, startedAt, terminal: terminal.uri, mark, ...(end && { end }) };
  }

  async read({ since = 0, waitMs, signal }: Parameters<BackgroundPort['read']>[1]): Promise<BackgroundOutput> {
    if (since >= this.#dropped + this.#kept.length && !this.end && waitMs > 0) await this.#news(waitMs, signal);
    const start = Math.max(since, this.#dropped);
    const text = this.#kept.slice(start - this.#dropped, start - this.#dropped + BACKGROUND_READ_MAX_CHARACTERS);
    const next = start + text.length;
    const about = this.about();
    // A reader that has read everything knows of the end.
    if (this.end && next >= about.mark) this.isReported = true;
    return { ...about, text, next, lost: Math.max(0, this.#dropped - since) };
  }

  async stop(): Promise<void> {
    this.isReported = true;
    await this.#started.terminal.end();
    await this.#started.terminal.ended;
  }

  endText(): string {
    const last = this.#kept.slice(-LAST_OUTPUT_CHARACTERS).trim();
    const ending = last === '' ? 'It said nothing.' : `The end of its output:\n${last}`;
    return `The background command ${this.id} (${shorten(this.#started.command, 80)}) has ended: ${endWords(this.about())}. ${ending}`;
  }

  #take(text: string): void {
    if (text === '') return;
    this.#kept += text;
    if (this.#kept.length > 2 * BACKGROUND_OUTPUT_MAX_CHARACTERS) {
      const surplus = this.#kept.length - BACKGROUND_OUTPUT_MAX_CHARACTERS;
      this.#dropped += surplus;
      this.#kept = this.#kept.slice(surplus);
    }
    this.#tell();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #news(waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#listeners.delete(done);
        signal.removeEventListener('abort', done);
        disarm();
        resolve();
      };
      const disarm = this.clock.after(waitMs, done);
      this.#listeners.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }
}

/** The state of a command, in words. */
export function endWords({ end }: Pick<BackgroundCommand, 'end'>): string {
  if (!end) return 'still running';
  return end.signal === undefined ? `exit code ${end.code}` : `ended by ${end.signal}`;
}

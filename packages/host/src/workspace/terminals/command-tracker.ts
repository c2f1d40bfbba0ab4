/** Makes commands out of the marks of a shell: when one began, what it was, how it ended. */
import type { TerminalAction } from '@atrium/protocol';
import type { Clock } from '../../core/util/clock.js';
import { TYPED_MAX_CHARACTERS } from './limits.js';
import { plainText } from './plain-text.js';
import type { Signal } from './signals.js';

interface Running {
  readonly commandId: string;
  readonly startedAt: number;
}

export class CommandTracker {
  readonly #clock: Clock;
  #running: Running | undefined;
  #commands = 0;
  #isAvailable = false;
  /** What was shown since the prompt: the prompt itself, and what a person typed. */
  #typed = '';

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  text(text: string): void {
    if (this.#isAvailable && !this.#running) this.#typed = (this.#typed + text).slice(-TYPED_MAX_CHARACTERS);
  }

  signal(signal: Signal): TerminalAction[] {
    if (signal.kind === 'prompt') return this.#prompt();
    if (signal.kind === 'executed') return this.executed(this.#lineOf(signal));
    return signal.kind === 'finished' ? this.finished(signal.exitCode) : [];
  }

  #prompt(): TerminalAction[] {
    this.#typed = '';
    if (this.#isAvailable) return [];
    this.#isAvailable = true;
    return [{ type: 'terminal/commandDetectionAvailable' }];
  }

  executed(commandLine: string, commandId = `command-${++this.#commands}`): TerminalAction[] {
    const before = this.finished(undefined);
    const timestamp = this.#clock.now();
    this.#isAvailable = true;
    this.#running = { commandId, startedAt: timestamp };
    return [...before, { type: 'terminal/commandExecuted', commandId, commandLine, timestamp }];
  }

  /** The command that runs is over; nothing when none runs, as at the first prompt. */
  finished(exitCode: number | undefined): TerminalAction[] {
    if (!this.#running) return [];
    const { commandId, startedAt } = this.#running;
    this.#running = undefined;
    const durationMs = Math.max(0, this.#clock.now() - startedAt);
    return [{ type: 'terminal/commandFinished', commandId, durationMs, ...(exitCode !== undefined && { exitCode }) }];
  }

  /** A shell that keeps no note of some lines still says the last one that it has. It is taken if it was typed just now. */
  #lineOf({ commandLine, isSure }: Extract<Signal, { kind: 'executed' }>): string {
    return isSure || plainText(this.#typed).includes(commandLine) ? commandLine : '';
  }
}

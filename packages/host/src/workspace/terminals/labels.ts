/** The title and the folder of a terminal, as its programs say. They may say it often; it is shown now and then. */
import { pathToFileURL } from 'node:url';
import type { TerminalAction, TerminalState } from '@atrium/protocol';
import type { Clock } from '../../core/util/clock.js';
import { throttle } from '../../core/util/throttle.js';
import { LABELS_EVERY_MS } from './limits.js';

export interface LabelsOptions {
  readonly clock: Clock;
  state(): TerminalState;
  act(actions: readonly TerminalAction[]): void;
  /** A person gave it a name: that stays, whatever programs say. */
  isNamed(): boolean;
}

export class Labels {
  readonly #options: LabelsOptions;
  readonly #shown;
  #title: string | undefined;
  #cwd: string | undefined;

  constructor(options: LabelsOptions) {
    this.#options = options;
    this.#shown = throttle(options.clock, LABELS_EVERY_MS, () => this.#show());
  }

  title(title: string): void {
    if (title === '') return;
    this.#title = title;
    this.#shown.request();
  }

  cwd(path: string): void {
    if (!path.startsWith('/') && process.platform !== 'win32') return;
    this.#cwd = pathToFileURL(path).href;
    this.#shown.request();
  }

  stop(): void {
    this.#shown.stop();
  }

  #show(): void {
    const { state, act, isNamed } = this.#options;
    const title = isNamed() ? undefined : this.#title;
    const cwd = this.#cwd;
    this.#title = undefined;
    this.#cwd = undefined;
    const { title: oldTitle, cwd: oldCwd } = state();
    act([
      ...(title !== undefined && title !== oldTitle ? [{ type: 'terminal/titleChanged', title } as const] : []),
      ...(cwd !== undefined && cwd !== oldCwd ? [{ type: 'terminal/cwdChanged', cwd } as const] : []),
    ]);
  }
}

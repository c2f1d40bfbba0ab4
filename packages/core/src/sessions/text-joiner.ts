/**
 * Joins text on its way from an agent to the log. Each action of a chat is stored and sent to every client, whatever
 * its size, so text that comes quickly is joined first: within a tick, and within a window of time. Waiting text has
 * been neither shown nor stored: a host that is killed loses that much and no more.
 */
import type { ChatAction } from '@atrium/protocol/ahp-1';
import type { Writer } from '../channels/writer.js';
import type { Audience } from '../contracts/ports.js';
import type { Clock } from '../util/clock.js';
import { TEXT_WAITING_MAX_CHARACTERS, TEXT_WINDOWS } from './limits.js';

/** How long text of a chat waits for more. */
export function textWindowMs({ count, maxDelayMs = Number.POSITIVE_INFINITY }: Audience): number {
  const { milliseconds } = TEXT_WINDOWS.find(({ watchers }) => count >= watchers) ?? { milliseconds: 0 };
  return Math.min(milliseconds, maxDelayMs);
}

export interface TextWindowOptions {
  readonly clock: Clock;
  readonly writer: Pick<Writer, 'atEndOfTick'>;
  /** Who watches the chat now. */
  audience(): Audience;
  write(action: ChatAction): void;
}

export class TextJoiner {
  readonly #options: TextWindowOptions;
  #waiting: ChatAction | undefined;
  #isForThisTick = false;
  /** When the present window opened, and how long it is; text that comes later finds it shut. */
  #openedAt = 0;
  #lengthMs = 0;
  /** Takes back the timer that writes waiting text; absent while none runs. A window in which nothing waits needs none. */
  #stop: (() => void) | undefined;

  constructor(options: TextWindowOptions) {
    this.#options = options;
  }

  /**
   * Takes a piece of text. The first piece after a silence goes out with its tick, and opens a window for those that
   * follow.
   */
  take(action: ChatAction): void {
    const joined = this.#waiting && joinedAction(this.#waiting, action);
    if (this.#waiting && !joined) this.flush();
    this.#waiting = joined ?? action;
    if (sizeOf(this.#waiting) >= TEXT_WAITING_MAX_CHARACTERS) this.#write();
    else if (!this.#stop && !this.#isForThisTick) this.#arrange();
  }

  /** Writes waiting text before something else is written. Text that comes next goes out in the same tick. */
  flush(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#lengthMs = 0;
    this.#write();
  }

  /** Decides when waiting text goes out: at the end of the window, or with this tick if none is open. */
  #arrange(): void {
    const { clock, writer } = this.#options;
    const passed = this.#lengthMs === 0 ? 0 : clock.now() - this.#openedAt;
    // The wall clock may have been set back.
    if (passed >= 0 && passed < this.#lengthMs) {
      this.#stop = clock.after(this.#lengthMs - passed, () => {
        this.#stop = undefined;
        this.#writeAndOpen();
      });
      return;
    }
    this.#isForThisTick = true;
    writer.atEndOfTick(() => {
      this.#isForThisTick = false;
      if (!this.#stop) this.#writeAndOpen();
    });
  }

  #writeAndOpen(): void {
    if (!this.#waiting) return;
    this.#write();
    const { clock, audience } = this.#options;
    this.#lengthMs = textWindowMs(audience());
    if (this.#lengthMs > 0) this.#openedAt = clock.now();
  }

  #write(): void {
    const action = this.#waiting;
    this.#waiting = undefined;
    if (action) this.#options.write(action);
  }
}

/** True for actions that only add to what an agent says: text, thinking, input of a call, or newer output of a call. */
export function isJoinable(action: ChatAction): boolean {
  switch (action.type) {
    case 'chat/delta':
    case 'chat/reasoning':
    case 'chat/toolCallContentChanged':
      return true;
    case 'chat/toolCallDelta':
      return action.content !== undefined && action.invocationMessage === undefined;
    default:
      return false;
  }
}

/** One action with the effect of two in a row; undefined when there is none. */
export function joinedAction(first: ChatAction, next: ChatAction): ChatAction | undefined {
  switch (next.type) {
    case 'chat/delta':
    case 'chat/reasoning':
      if (first.type !== next.type || first.partId !== next.partId) return undefined;
      return { ...first, content: first.content + next.content };
    case 'chat/toolCallDelta':
      if (first.type !== next.type || first.toolCallId !== next.toolCallId) return undefined;
      return { ...first, content: `${first.content ?? ''}${next.content ?? ''}` };
    case 'chat/toolCallContentChanged':
      // The newer content replaces all that was shown before.
      return first.type === next.type && first.toolCallId === next.toolCallId ? next : undefined;
    default:
      return undefined;
  }
}

function sizeOf(action: ChatAction): number {
  return 'content' in action && typeof action.content === 'string' ? action.content.length : 0;
}

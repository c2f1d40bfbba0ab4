/** A session as a chat shows it: what was said, what is in motion, what waits, and the line at the bottom. */
import type { Client, Status, Subscription } from '@atrium/client';
import type { SessionState } from '@atrium/protocol';
import type { ViewOptions } from './call-view.js';
import type { EditorView } from './editor-view.js';
import { Edits } from './edits.js';
import { LiveTerminals } from './live-terminals.js';
import type { Frame } from './screen.js';
import { statusLine, waitingLines } from './status.js';
import { Transcript } from './transcript.js';

export interface ChatViewParts {
  readonly client: Client;
  readonly session: Subscription;
  /** Whether the host's files are those of this machine. */
  readonly isLocal: boolean;
  view(): ViewOptions;
  /** Something has come that was asked for. */
  changed(): void;
}

/** What the session itself does not know. */
export interface ChatFacts {
  readonly prompt: EditorView;
  readonly connection: Status;
  readonly isAsking: boolean;
  /** Ctrl+C was pressed once. */
  readonly isLeaving: boolean;
}

export class ChatView {
  readonly edits: Edits;
  readonly #transcript: Transcript;
  readonly #terminals: LiveTerminals;
  #workingSince: { readonly turnId: string; readonly at: number } | undefined;

  constructor({ client, session, isLocal, view, changed }: ChatViewParts) {
    const folder = () => session.state.summary.workingDirectory;
    const edits = new Edits({ client, isLocal, folder, onReady: changed });
    const terminals = new LiveTerminals(client, changed);
    this.edits = edits;
    this.#terminals = terminals;
    this.#transcript = new Transcript({
      view,
      diffs: (call, isLive) => (isLive ? edits.ofCall(call) : edits.known(call)),
      tail: (call) => terminals.tail(call),
    });
  }

  /** What was said so far is on the screen already. */
  skip(state: SessionState): void {
    this.#transcript.skip(state);
  }

  /** The lines that are finished since last time. */
  finished(state: SessionState): string[] {
    this.#keepTime(state);
    return this.#transcript.finished(state);
  }

  frame(state: SessionState, { prompt, connection, isAsking, isLeaving }: ChatFacts, view: ViewOptions): Frame {
    const above = [...this.#transcript.live(state), ...waitingLines(state, view)];
    const lead = above.length > 0 ? [...above, ''] : [];
    const workingMs = this.#workingSince && performance.now() - this.#workingSince.at;
    const status = statusLine({ state, connection, workingMs, isAsking, isLeaving }, view);
    return {
      lines: [...lead, ...prompt.lines, status],
      cursor: { ...prompt.cursor, row: prompt.cursor.row + lead.length },
    };
  }

  close(): void {
    this.#terminals.release();
  }

  #keepTime({ activeTurn }: SessionState): void {
    if (!activeTurn) {
      this.#workingSince = undefined;
      this.#terminals.release();
    }
    if (activeTurn && this.#workingSince?.turnId !== activeTurn.id)
      this.#workingSince = { turnId: activeTurn.id, at: performance.now() };
  }
}

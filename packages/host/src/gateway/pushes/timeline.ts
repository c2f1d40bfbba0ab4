/**
 * Notes of providers for the people in a session. During a turn they are parts of it; otherwise they wait in the
 * session's metadata and appear at the head of the next turn. The model does not read them.
 */

import type { SessionStep } from '@atrium/core/sessions/session-observer.js';
import type { Clock } from '@atrium/core/util/clock.js';
import { type Throttle, throttle } from '@atrium/core/util/scheduling.js';
import { shorten } from '@atrium/core/util/text.js';
import { type GatewaySession, gatewayMeta } from '../gateway-session.js';

/** How many notes the metadata holds, and how many may wait for a turn. */
export const TIMELINE_MAX = 50;
/** So a session changes at most twice a second. */
export const TIMELINE_INTERVAL_MS = 500;
export const NOTE_MAX_CHARACTERS = 2_000;
/** Names may also come from a folder's `atrium.json`, where they can be anything. */
const FROM_MAX_CHARACTERS = 64;
/** The length that fits into a list of sessions. */
export const ACTIVITY_MAX_CHARACTERS = 120;

/** Every note begins with this mark and the name of its sender. */
const MARK = '※';
/** Everything that some client shows as a line break. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;

interface Waiting {
  notes: string[];
  /** Notes that no turn has shown yet. */
  unshown: string[];
  readonly throttle: Throttle;
}

export class Timeline {
  readonly #waiting = new WeakMap<GatewaySession, Waiting>();

  constructor(private readonly clock: Clock) {}

  /** Shows a note, at once or within half a second. */
  note(session: GatewaySession, from: string, text: string): void {
    const waiting = this.#of(session);
    waiting.notes = [...waiting.notes, `${MARK} ${nameOf(from)}: ${escapedText(text)}`].slice(-TIMELINE_MAX);
    waiting.throttle.request();
  }

  /** A turn began: puts notes that no turn has shown yet at its head. */
  observe(session: GatewaySession, { action, chat }: SessionStep): void {
    const waiting = this.#waiting.get(session);
    if (action.type !== 'chat/turnStarted' || chat?.uri !== session.chat.uri || !waiting) return;
    showInTurn(session, action.turnId, waiting.unshown.splice(0));
  }

  /** The session ended. */
  stop(session: GatewaySession): void {
    this.#waiting.get(session)?.throttle.stop();
  }

  #of(session: GatewaySession): Waiting {
    const known = this.#waiting.get(session);
    if (known) return known;
    const waiting: Waiting = {
      notes: [],
      unshown: [],
      throttle: throttle(this.clock, TIMELINE_INTERVAL_MS, () => this.#show(session)),
    };
    this.#waiting.set(session, waiting);
    return waiting;
  }

  #show(session: GatewaySession): void {
    const waiting = this.#of(session);
    const notes = waiting.notes.splice(0);
    const turnId = session.chat.state.activeTurn?.id;
    if (turnId !== undefined) return showInTurn(session, turnId, notes);
    waiting.unshown = [...waiting.unshown, ...notes].slice(-TIMELINE_MAX);
    const timeline = [...(gatewayMeta(session.state).timeline ?? []), ...notes].slice(-TIMELINE_MAX);
    session.writeMeta({ timeline });
    const activity = shorten(notes.at(-1) ?? '', ACTIVITY_MAX_CHARACTERS);
    session.chat.write({ type: 'chat/activityChanged', activity });
  }
}

/** One line without the mark, so that a name cannot imitate a note of another sender. */
function nameOf(from: string): string {
  return shorten(from.replaceAll(MARK, '*'), FROM_MAX_CHARACTERS);
}

/** A text may have several lines, but none that looks like a note of another sender: only the host writes the mark. */
function escapedText(text: string): string {
  const shown = text.length > NOTE_MAX_CHARACTERS ? `${text.slice(0, NOTE_MAX_CHARACTERS - 1)}…` : text;
  return shown.replaceAll(MARK, '*').replaceAll(LINE_BREAK, '\n  ');
}

/** Writes all notes with one action. */
function showInTurn(session: GatewaySession, turnId: string, notes: readonly string[]): void {
  if (notes.length === 0) return;
  const part = { kind: 'systemNotification' as const, content: notes.join('\n') };
  session.chat.write({ type: 'chat/responsePart', turnId, part });
}

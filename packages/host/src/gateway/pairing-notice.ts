/**
 * Shows a pairing code to the people in a session as an input request: user-facing state, which no agent and no
 * provider reads. A request is dropped with the turn it came in, so it is made again while the code lives.
 */
import type { SessionState } from '@atrium/protocol';
import type { Step } from '../channels/channel.js';
import type { CodeNotice } from './pairing.js';
import type { Room } from './room.js';
import type { GatewayService } from './service.js';

interface Shown extends CodeNotice {
  readonly id: string;
}

export class PairingNotices implements GatewayService {
  readonly #shown = new WeakMap<Room, Map<string, Shown>>();

  /** The returned function takes the notice away. */
  show(room: Room, notice: CodeNotice): () => void {
    const shown = { ...notice, id: `pair-${crypto.randomUUID()}` };
    const all = this.#shown.get(room) ?? new Map<string, Shown>();
    this.#shown.set(room, all.set(shown.id, shown));
    ask(room, shown);
    return () => {
      if (!all.delete(shown.id) || !isOpen(room, shown.id)) return;
      room.session.write({ type: 'session/inputCompleted', requestId: shown.id, response: 'cancel' });
    };
  }

  observe(room: Room, { envelope, after }: Step<SessionState>): void {
    const all = this.#shown.get(room);
    if (!all || all.size === 0) return;
    const { action } = envelope;
    if (action.type === 'session/inputCompleted') {
      const answered = all.get(action.requestId);
      if (!answered) return;
      all.delete(answered.id);
      if (action.response !== 'accept') answered.declined();
      return;
    }
    for (const shown of all.values()) if (!after.inputRequests?.some(({ id }) => id === shown.id)) ask(room, shown);
  }
}

function ask({ session }: Room, { id, name, code }: Shown): void {
  const who = name === undefined ? 'A local provider' : `A local provider '${name}'`;
  const message = `${who} asks for access. Type this code there: ${code.slice(0, 3)} ${code.slice(3)}`;
  session.write({ type: 'session/inputRequested', request: { id, message, questions: [] } });
}

function isOpen({ session }: Room, id: string): boolean {
  return session.state.inputRequests?.some((request) => request.id === id) ?? false;
}

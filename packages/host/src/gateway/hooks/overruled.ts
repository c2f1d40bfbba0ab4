/**
 * Only one text can take the place of a section: of two providers that replace it, the later one wins. The earlier one
 * hears of that once, for nothing else would tell it that its text is not used.
 */
import { GatewayErrorCode } from '@atrium/protocol/provider';
import type { Binding } from '../provider.js';
import type { Room } from '../room.js';

export class Overruled {
  /** Whom each provider was told to have lost a section to. */
  readonly #told = new WeakMap<Binding, Map<string, string>>();

  readonly #changed = new Set<Room>();

  /** Something changed in a session. Much may change in one tick; only its outcome counts. */
  changed(room: Room): void {
    if (this.#changed.size === 0) queueMicrotask(() => this.#lookAll());
    this.#changed.add(room);
  }

  #lookAll(): void {
    const rooms = [...this.#changed];
    this.#changed.clear();
    for (const room of rooms) this.#look(room);
  }

  #look(room: Room): void {
    const winners = new Map<string, Binding>();
    for (const binding of inOrder(room)) {
      for (const [section, { action }] of binding.transforms) {
        if (action === 'replace') winners.set(section, binding);
      }
    }
    for (const binding of room.bindings) this.#tell(binding, winners);
  }

  #tell(binding: Binding, winners: ReadonlyMap<string, Binding>): void {
    const lost = lostSections(binding, winners);
    const told = this.#told.get(binding);
    this.#told.set(binding, lost);
    const { provider, sessionId } = binding;
    for (const [section, winner] of lost) {
      if (told?.get(section) === winner) continue;
      const message = `your replacement of the section ${section} is not used: ${winner} replaces it, too`;
      const { providerId } = provider;
      // There is no code for warnings; this one means that somebody else has what it wanted.
      provider.send({ type: 'error', code: GatewayErrorCode.ToolConflict, message, providerId, sessionId });
    }
  }
}

/** Providers stand in the prompt in the order in which they first came, with all their instances. */
function inOrder(room: Room): Binding[] {
  return room
    .groups()
    .filter(({ name }) => room.isEnabled(name))
    .flatMap(({ bindings }) => bindings.filter(({ isAway }) => !isAway));
}

function lostSections(binding: Binding, winners: ReadonlyMap<string, Binding>): Map<string, string> {
  const lost = new Map<string, string>();
  for (const [section, { action }] of binding.transforms) {
    const winner = winners.get(section);
    if (action === 'replace' && winner && winner !== binding) lost.set(section, winner.provider.title);
  }
  return lost;
}

/** What a provider tells the model once: with the next prompt after it first stood in a session, and never again. */
import type { Binding } from '../provider.js';
import type { Room } from '../room.js';

export class StartupContext {
  /** Who has said it already, in each session. */
  readonly #said = new WeakMap<Room, Set<string>>();

  take(binding: Binding): string {
    const { startupContext, provider, room } = binding;
    const said = this.#said.get(room) ?? new Set();
    this.#said.set(room, said);
    if (startupContext === '' || said.has(provider.title)) return '';
    said.add(provider.title);
    return startupContext;
  }
}

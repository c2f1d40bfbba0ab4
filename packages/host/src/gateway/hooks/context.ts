/** What providers tell the model beside a message: some of it with every message, some of it once. */
import type { Binding } from '../provider.js';
import type { Group, Room } from '../room.js';
import { present } from '../tools/instances.js';

export class Contexts {
  /** Who has said already, in each session, what the model is told once. */
  readonly #said = new WeakMap<Room, Set<string>>();

  /** For the turn that begins. What several instances say is said once. Undefined when there is nothing to say. */
  take(group: Group): string | undefined {
    const texts = new Set(present(group).flatMap((binding) => [this.#startup(binding), binding.context]));
    texts.delete('');
    return texts.size === 0 ? undefined : [...texts].join('\n\n');
  }

  /** Coming back, or binding anew, is no reason to say it again. */
  #startup({ startupContext, provider, room }: Binding): string {
    const said = this.#said.get(room) ?? new Set();
    this.#said.set(room, said);
    if (startupContext === '' || said.has(provider.title)) return '';
    said.add(provider.title);
    return startupContext;
  }
}

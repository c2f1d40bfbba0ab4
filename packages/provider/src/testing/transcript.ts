/** Everything that a provider has sent, in order, for a test to look at or to wait for. */
import type { ToGatewayMessage, ToGatewayMessageMap, ToGatewayMessageType } from '@atrium/protocol/provider';

/** Longer than any test should have to wait. */
const PATIENCE_MS = 5_000;

export class Transcript {
  readonly all: ToGatewayMessage[] = [];
  readonly #taken = new Set<ToGatewayMessage>();
  readonly #watchers = new Set<() => void>();

  add(message: ToGatewayMessage): void {
    this.all.push(message);
    for (const look of [...this.#watchers]) look();
  }

  of<Type extends ToGatewayMessageType>(type: Type): ToGatewayMessageMap[Type][] {
    return this.all.filter((message) => message.type === type) as ToGatewayMessageMap[Type][];
  }

  /** The first message of this type that nobody has waited for yet, past or future. */
  next<Type extends ToGatewayMessageType>(type: Type): Promise<ToGatewayMessageMap[Type]> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#watchers.delete(look);
        const seen = this.all.map((message) => message.type).join(', ') || 'nothing';
        reject(new Error(`no ${type} came in ${PATIENCE_MS / 1_000} s; what came: ${seen}`));
      }, PATIENCE_MS);
      const look = () => {
        const found = this.of(type).find((message) => !this.#taken.has(message));
        if (!found) return;
        clearTimeout(timer);
        this.#watchers.delete(look);
        this.#taken.add(found);
        resolve(found);
      };
      this.#watchers.add(look);
      look();
    });
  }
}

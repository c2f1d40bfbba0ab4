/**
 * Whether this host begins turns. A host that is leaving begins none: it stores the messages that it still gets, and the host that
 * takes over begins their turns.
 */
export class TurnStarts {
  #areHandedOver = false;

  get areHandedOver(): boolean {
    return this.#areHandedOver;
  }

  handOver(): void {
    this.#areHandedOver = true;
  }
}

/**
 * Whether this host begins turns. A host that is leaving begins none: it stores the messages that it still gets, and the host that
 * takes over begins their turns.
 */
export class TurnStarts {
  #areLeft = false;

  get areLeft(): boolean {
    return this.#areLeft;
  }

  leaveToNextHost(): void {
    this.#areLeft = true;
  }
}

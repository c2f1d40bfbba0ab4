/** URIs that something is being done with: nobody else may create, restore or forget the session meanwhile. */

export class Reserved {
  readonly #uris = new Set<string>();

  has(uri: string): boolean {
    return this.#uris.has(uri);
  }

  /** Whoever calls has made sure that nobody else has it. */
  async during<T>(uri: string, work: () => Promise<T>): Promise<T> {
    this.#uris.add(uri);
    try {
      return await work();
    } finally {
      this.#uris.delete(uri);
    }
  }
}

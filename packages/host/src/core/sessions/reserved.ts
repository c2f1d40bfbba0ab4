/** URIs that something is being done with: nobody else may create, restore or forget the session meanwhile. */

export class Reserved {
  readonly #work = new Map<string, Promise<unknown>>();

  has(uri: string): boolean {
    return this.#work.has(uri);
  }

  /** Waits for the end of what is being done with the URI; somebody else may be at it again by then. */
  async settled(uri: string): Promise<void> {
    await this.#work.get(uri)?.catch(() => {});
  }

  /** Whoever calls has made sure that nobody else has it. */
  async during<T>(uri: string, task: () => Promise<T>): Promise<T> {
    const work = task().finally(() => this.#work.delete(uri));
    this.#work.set(uri, work);
    return work;
  }
}

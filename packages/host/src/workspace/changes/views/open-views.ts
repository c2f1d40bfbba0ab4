/** The views of one session that somebody watches, or has just asked for. */
import type { ErrorInfo } from '@atrium/protocol';
import type { HostCore } from '../../../core/contracts/host-core.js';
import { VIEW_IDLE_MS, VIEWS_MAX } from '../limits.js';
import type { Shown, ViewSource } from './source.js';
import { View } from './view.js';

export interface OpenViewsParts {
  readonly core: HostCore;
  /** One of them is up to date again. */
  refreshed(): void;
  /** One of them was given up. */
  released(): void;
}

export class OpenViews {
  readonly #views = new Map<string, View>();
  #isOver = false;

  constructor(private readonly parts: OpenViewsParts) {}

  get isEmpty(): boolean {
    return this.#views.size === 0;
  }

  /** What a view shows now; undefined when it is not open. */
  shown(uri: string): Shown | undefined {
    return this.#views.get(uri)?.shown;
  }

  fail(uri: string, failure: ErrorInfo | undefined): void {
    this.#views.get(uri)?.fail(failure);
  }

  /** Opened now, if it was not yet. Undefined when there is none, or when too many others are watched. */
  async open(uri: string, find: () => Promise<ViewSource | undefined>): Promise<View | undefined> {
    const source = this.#views.has(uri) ? undefined : await find();
    const present = this.#views.get(uri);
    if (present || !source || this.#isOver) return present;
    if (this.#views.size >= VIEWS_MAX) for (const other of [...this.#views.keys()]) this.release(other);
    if (this.#views.size >= VIEWS_MAX) return undefined;
    const { core, refreshed } = this.parts;
    const view = new View({ core, uri, source, refreshed });
    this.#views.set(uri, view);
    // Whoever asked may never watch it.
    core.clock.after(VIEW_IDLE_MS, () => this.release(uri));
    void view.refresh();
    return view;
  }

  /** Gives a view up, unless somebody watches. */
  release(uri: string): void {
    const view = this.#views.get(uri);
    if (!view || this.parts.core.isWatched(uri)) return;
    view.close();
    this.#views.delete(uri);
    this.parts.released();
  }

  async refresh(): Promise<void> {
    await Promise.all([...this.#views.values()].map((view) => view.refresh()));
  }

  /** When the session itself is over, whoever watches is told so and let go. */
  close(isSessionOver: boolean): void {
    const { core } = this.parts;
    this.#isOver = true;
    for (const [uri, view] of this.#views) {
      if (isSessionOver) view.end();
      else view.close();
      if (isSessionOver) core.writer.afterCommit(() => core.unsubscribeAll(uri));
    }
    this.#views.clear();
  }
}

/** Views: channels that show changes. A view lives from when a client asks for it until no client watches it. */

import { EphemeralChannel } from '@atrium/core/channels/ephemeral-channel.js';
import { STORE_RETRY_MS } from '@atrium/core/channels/limits.js';
import type { Writer } from '@atrium/core/channels/writer.js';
import { UNWATCHED, type Work } from '@atrium/core/contracts/work.js';
import type { Clock } from '@atrium/core/util/clock.js';
import {
  type ChangesetAction,
  type ChangesetFile,
  type ChangesetOperation,
  type ChangesetState,
  changesetReducer,
  type ErrorInfo,
  type StateAction,
  type TextRange,
} from '@atrium/protocol/ahp-1';
import type { BytePath } from '../git/byte-path.js';
import { REFRESH_MAX_MS, REFRESH_MIN_MS, REFRESH_TIME_SHARE, VIEW_IDLE_MS, VIEWS_MAX } from './limits.js';
import type { Reviews, ViewReviews } from './reviews.js';

/** The content of a view. */
export interface Shown {
  readonly files: readonly ShownFile[];
  readonly operations: readonly ChangesetOperation[];
  /** Why the list is incomplete or empty. */
  readonly problem?: ErrorInfo;
}

export interface ShownFile {
  readonly file: ChangesetFile;
  /** A renamed file has two. */
  readonly paths: readonly BytePath[];
  /** Differs between versions of the file that look the same to clients. */
  readonly stamp?: string;
}

/** The files that an operation is about. Absent: all files. */
export interface OperationTarget {
  readonly paths: readonly BytePath[];
  readonly lines?: { readonly side: 'before' | 'after'; readonly range: TextRange };
}

/** Where a view gets its files from, and which operations it has. */
export interface ViewSource {
  /** People can change its files without telling the host, so the host must look again and again. */
  readonly isOpenToAll: boolean;
  show(): Promise<Shown>;
  /** Returns the message for the client. Fails with a `RequestError` when nothing was done. */
  run(operationId: string, target: OperationTarget | undefined, work: Work): Promise<string>;
}

export function incomplete(why: string): ErrorInfo {
  return { errorType: 'incomplete', message: `This may not be everything: ${why}.` };
}

type OperationState = Pick<ChangesetOperation, 'status' | 'error'>;

export interface ChangesetViewOptions {
  readonly host: Pick<ViewsHost, 'writer' | 'clock'>;
  readonly uri: string;
  readonly source: ViewSource;
  readonly reviews: ViewReviews;
  /** The view is up to date again. */
  refreshed(state: ChangesetState): void;
}

export class View {
  readonly channel: EphemeralChannel<ChangesetState>;
  readonly source: ViewSource;
  readonly #options: ChangesetViewOptions;
  #shown: Shown | undefined;
  /** The last operation's failure, shown until the next operation. */
  #failure: ErrorInfo | undefined;
  /** Operations that are running, and those whose last run failed. */
  readonly #statuses = new Map<string, OperationState>();
  #looking: Promise<void> | undefined;
  #isStale = false;
  #isOver = false;
  #disarm = () => {};

  constructor(options: ChangesetViewOptions) {
    this.#options = options;
    this.source = options.source;
    const { host, uri } = options;
    const initial: ChangesetState = { status: 'computing', files: [] };
    this.channel = new EphemeralChannel({
      ...{ writer: host.writer, uri, initial, reduce: changesetReducer as never },
      refusal: (action) => this.#refusal(action),
      applied: (action) => this.#applied(action),
    });
    // A returning client may still have the content of an earlier view of this name.
    this.channel.write({ type: 'changeset/cleared' });
    this.channel.write({ type: 'changeset/statusChanged', status: 'computing' });
  }

  /** Clients may only mark files as reviewed. */
  #refusal(action: StateAction): string | undefined {
    if (action.type !== 'changeset/filesReviewChanged') return `clients cannot dispatch ${action.type} here`;
    const unknown = action.files.find((id) => !this.#shown?.files.some(({ file }) => file.id === id));
    return unknown === undefined ? undefined : `there is no file ${unknown} in this changeset`;
  }

  #applied(action: StateAction): void {
    if (action.type !== 'changeset/filesReviewChanged') return;
    const files = (this.#shown?.files ?? []).filter(({ file }) => action.files.includes(file.id));
    this.#options.reviews.set(files, action.reviewed);
  }

  /** Undefined until the first look is over. */
  get shown(): Shown | undefined {
    return this.#shown;
  }

  /** Looks again. Calls during a look wait for one more look, so that nothing is missed. */
  async refresh(): Promise<void> {
    if (this.#looking) {
      this.#isStale = true;
      return this.#looking;
    }
    this.#looking = this.#refreshUntilCurrent().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #refreshUntilCurrent(): Promise<void> {
    const { clock } = this.#options.host;
    do {
      this.#isStale = false;
      this.#disarm();
      const begin = clock.now();
      const shown = await this.source.show().catch(failed);
      if (this.#isOver) return;
      this.#show(shown);
      const pause = Math.min(Math.max(REFRESH_MIN_MS, (clock.now() - begin) * REFRESH_TIME_SHARE), REFRESH_MAX_MS);
      if (this.source.isOpenToAll) this.#disarm = clock.after(pause, () => void this.refresh());
    } while (this.#isStale);
    this.#options.refreshed(this.channel.state);
  }

  fail(failure: ErrorInfo | undefined): void {
    this.#failure = failure;
    if (this.#shown && !this.#isOver) this.#showStatus();
  }

  /** Runs an operation; every client that watches sees that it runs, and whether it failed. */
  async run(operationId: string, target: OperationTarget | undefined, work: Work = UNWATCHED): Promise<string> {
    this.fail(undefined);
    for (const [id, { status }] of [...this.#statuses]) if (status === 'error') this.#setStatus(id, { status: 'idle' });
    this.#setStatus(operationId, { status: 'running' });
    try {
      const answer = await this.source.run(operationId, target, work);
      this.#setStatus(operationId, { status: 'idle' });
      return answer;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#setStatus(operationId, { status: 'error', error: { errorType: 'operation-failed', message } });
      throw error;
    }
  }

  #setStatus(operationId: string, state: OperationState): void {
    if (state.status === 'idle') this.#statuses.delete(operationId);
    else this.#statuses.set(operationId, state);
    const isShown = this.channel.state.operations?.some(({ id }) => id === operationId);
    if (isShown && !this.#isOver) this.#write({ type: 'changeset/operationStatusChanged', operationId, ...state });
  }

  /** Writes only differences. */
  #show(shown: Shown): void {
    const old = new Map(this.channel.state.files.map((file) => [file.id, file]));
    const fresh = new Set(shown.files.map(({ file }) => file.id));
    for (const id of old.keys()) if (!fresh.has(id)) this.#write({ type: 'changeset/fileRemoved', fileId: id });
    for (const each of shown.files) {
      const known = old.get(each.file.id);
      const file = withReview(each, known, this.#options.reviews);
      if (!isEqual(known, file)) this.#write({ type: 'changeset/fileSet', file });
    }
    const operations = shown.operations.map((operation) => ({ ...operation, ...this.#statuses.get(operation.id) }));
    if (!isEqual(this.channel.state.operations ?? [], operations)) {
      this.#write({ type: 'changeset/operationsChanged', operations });
    }
    this.#shown = shown;
    this.#showStatus();
  }

  #showStatus(): void {
    const error = this.#failure ?? this.#shown?.problem;
    const { status, error: shownError } = this.channel.state;
    if (status === (error ? 'error' : 'ready') && isEqual(shownError, error)) return;
    const action = error ? { status: 'error' as const, error } : { status: 'ready' as const };
    this.#write({ type: 'changeset/statusChanged', ...action });
  }

  /** If the action cannot be stored, it never happened here either, and the next look writes it again. */
  #write(action: ChangesetAction): void {
    const { writer, clock } = this.#options.host;
    this.channel.write(action);
    writer.afterFailure(() => {
      this.#disarm();
      if (!this.#isOver) this.#disarm = clock.after(STORE_RETRY_MS, () => void this.refresh());
    });
  }

  /** No client watches it any more. */
  close(): void {
    this.#isOver = true;
    this.#disarm();
  }

  /** The session has ended. */
  end(): void {
    this.close();
    this.channel.write({ type: 'changeset/cleared' });
  }
}

/** A file that no person has reviewed lacks the member. It comes last, where the reducer puts it. */
function withReview(shown: ShownFile, known: ChangesetFile | undefined, reviews: ViewReviews): ChangesetFile {
  const isReviewed = reviews.has(shown);
  if (!isReviewed && known?.reviewed === undefined) return shown.file;
  return { ...shown.file, reviewed: isReviewed };
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function failed(error: unknown): Shown {
  const message = error instanceof Error ? error.message : String(error);
  return { files: [], operations: [], problem: { errorType: 'failed', message } };
}

/** What views need from the host. */
export interface ViewsHost {
  readonly writer: Writer;
  readonly clock: Clock;
  isWatched(uri: string): boolean;
  unsubscribeAll(uri: string): void;
}

export interface OpenViewsOptions {
  readonly host: ViewsHost;
  readonly reviews: Reviews;
  /** A view is up to date again. */
  refreshed(): void;
  /** A view was closed. */
  released(): void;
}

/** The views of one session that a client watches, or has just requested. */
export class OpenViews {
  readonly #views = new Map<string, View>();
  #isOver = false;

  constructor(private readonly options: OpenViewsOptions) {}

  get isEmpty(): boolean {
    return this.#views.size === 0;
  }

  /** The present content of a view; undefined when it is not open. */
  shown(uri: string): Shown | undefined {
    return this.#views.get(uri)?.shown;
  }

  fail(uri: string, failure: ErrorInfo | undefined): void {
    this.#views.get(uri)?.fail(failure);
  }

  /** Opens a view if it is not open yet. Undefined when it does not exist, or when clients watch too many others. */
  async open(uri: string, find: () => Promise<ViewSource | undefined>): Promise<View | undefined> {
    const source = this.#views.has(uri) ? undefined : await this.#found(find);
    const present = this.#views.get(uri);
    if (present || !source || this.#isOver) return present;
    if (this.#views.size >= VIEWS_MAX) for (const other of [...this.#views.keys()]) this.release(other);
    if (this.#views.size >= VIEWS_MAX) return undefined;
    const { host, reviews, refreshed } = this.options;
    const view = new View({ host, uri, source, reviews: reviews.of(uri), refreshed });
    this.#views.set(uri, view);
    // The client that asked may never watch it.
    host.clock.after(VIEW_IDLE_MS, () => this.release(uri));
    void view.refresh();
    return view;
  }

  async #found(find: () => Promise<ViewSource | undefined>): Promise<ViewSource | undefined> {
    await this.options.reviews.load();
    return find();
  }

  /** Closes a view, unless a client watches it. */
  release(uri: string): void {
    const view = this.#views.get(uri);
    if (!view || this.options.host.isWatched(uri)) return;
    view.close();
    this.#views.delete(uri);
    this.options.released();
  }

  async refresh(): Promise<void> {
    await Promise.all([...this.#views.values()].map((view) => view.refresh()));
  }

  /** When the session itself has ended, the host tells the subscribers and unsubscribes them. */
  close(isSessionOver: boolean): void {
    const { host } = this.options;
    this.#isOver = true;
    for (const [uri, view] of this.#views) {
      if (isSessionOver) view.end();
      else view.close();
      if (isSessionOver) host.writer.afterCommit(() => host.unsubscribeAll(uri));
    }
    this.#views.clear();
  }
}

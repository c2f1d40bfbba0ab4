/** The watches that clients have opened: each is a channel that lives as long as it has a subscriber. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { EphemeralChannel, type EphemeralChannelOptions } from '@atrium/core/channels/ephemeral-channel.js';
import type { OpenChannel } from '@atrium/core/channels/open-channel.js';
import type { Writer } from '@atrium/core/channels/writer.js';
import type { Caller } from '@atrium/core/contracts/ports.js';
import { ToolFailure } from '@atrium/core/contracts/tool.js';
import type { Clock } from '@atrium/core/util/clock.js';
import { type Glob, glob } from '@atrium/core/util/glob.js';
import type { Logger } from '@atrium/core/util/logger.js';
import {
  type CreateResourceWatchParams,
  type ResourceWatchState,
  resourceWatchReducer,
  type WatchFilter,
} from '@atrium/protocol/ahp-1';
import type { ClientRoots } from './client-roots.js';
import type { FileAccess, PinnedEntry } from './file-access.js';
import { invalid, notFound, refused } from './file-errors.js';
import { suffices } from './roots.js';
import { FolderBudget, type PathChange, TreeWatch } from './tree-watch.js';

export const WATCHES_MAX = 32;
export const WATCH_PATTERNS_MAX = 100;
export const WATCH_PATTERN_MAX_CHARACTERS = 1_000;
/** A watch without a subscriber ends after this time. */
export const WATCH_UNUSED_MS = 30_000;
/** Unless `includes` says otherwise, these folders are skipped, because programs change them all the time. */
const CHURN: readonly Glob[] = ['**/.git/objects/*', '**/node_modules/*'].map(glob);

export const WATCH_SCHEME = 'ahp-resource-watch:';

/** The part of the host that watches use. */
export interface WatchesHost {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly writer: Writer;
  /** Whether a channel has a subscriber. */
  isWatched(uri: string): boolean;
  unsubscribeAll(uri: string): void;
}

interface WatchesOptions {
  readonly host: WatchesHost;
  readonly files: FileAccess;
  readonly roots: ClientRoots;
  readonly budget?: FolderBudget;
}

interface Watch {
  readonly creator: Caller;
  /** The rights of this client count, even after its connection has closed and other subscribers are left. */
  readonly clientId: string;
  readonly channel: EphemeralChannel<ResourceWatchState>;
  readonly tree: TreeWatch;
  readonly cancelTimer: () => void;
  /** A warning that changes may be missed has been logged. */
  isPartial: boolean;
}

export class Watches {
  readonly #options: WatchesOptions;
  readonly #watches = new Map<string, Watch>();
  readonly #budget: FolderBudget;
  #isClosed = false;

  constructor(options: WatchesOptions) {
    this.#options = options;
    this.#budget = options.budget ?? new FolderBudget();
  }

  /** Resolves with the URI of the channel. Changes are reported to its subscribers only. */
  async create(creator: Caller, params: CreateResourceWatchParams): Promise<string> {
    const { files } = this.#options;
    const { uri } = params;
    const clientId = creator.identity?.clientId ?? '';
    const own = [...this.#watches.values()].filter((watch) => watch.creator === creator).length;
    if (own >= WATCHES_MAX) throw refused(`a connection may have at most ${WATCHES_MAX} watches: unsubscribe some`);
    return files.at({ uri, clientId, access: 'read' }, (entry) => this.#open({ creator, clientId }, entry, params));
  }

  async #open(
    { creator, clientId }: Pick<Watch, 'creator' | 'clientId'>,
    entry: PinnedEntry,
    params: CreateResourceWatchParams,
  ): Promise<string> {
    const { clock } = this.#options.host;
    const { uri, recursive = false, excludes, includes } = params;
    const { stats, real } = entry;
    if (!stats) throw notFound(uri);
    if (!stats.isDirectory() && !stats.isFile()) throw refused(`${uri} is neither a file nor a folder`);
    const channelUri = `${WATCH_SCHEME}/${crypto.randomUUID()}`;
    const tree = new TreeWatch({
      ...{ clock, root: real, recursive, isFolder: stats.isDirectory(), filter: changeFilter(excludes, includes) },
      budget: this.#budget,
      changed: (changes) => void this.#tell(channelUri, entry, changes),
      failed: (error) => this.#failed(channelUri, error),
    });
    await tree.start().catch((error) => {
      tree.close();
      throw error;
    });
    const filters = { ...(excludes && { excludes }), ...(includes && { includes }) };
    const initial = { root: uri, recursive, ...filters };
    const cancelTimer = clock.after(WATCH_UNUSED_MS, () => this.#releaseUnused(channelUri));
    const channel = new EphemeralChannel({ writer: this.#options.host.writer, uri: channelUri, reduce, initial });
    this.#watches.set(channelUri, { creator, clientId, channel, tree, cancelTimer, isPartial: false });
    // The connection or the host may have closed while the tree was being read.
    if (!creator.identity || this.#isClosed) this.release(channelUri);
    return channelUri;
  }

  open(uri: string): OpenChannel | undefined {
    return this.#watches.get(uri)?.channel;
  }

  release(uri: string): void {
    const watch = this.#watches.get(uri);
    this.#watches.delete(uri);
    watch?.tree.close();
    watch?.cancelTimer();
  }

  left(connection: Caller): void {
    for (const [uri, { creator }] of [...this.#watches]) if (creator === connection) this.#releaseUnused(uri);
  }

  close(): void {
    this.#isClosed = true;
    for (const uri of [...this.#watches.keys()]) this.release(uri);
  }

  #releaseUnused(uri: string): void {
    if (!this.#options.host.isWatched(uri)) this.release(uri);
  }

  /** Checks the rights again, because a grant may have ended since. */
  async #tell(uri: string, { uri: rootUri, real, asked }: PinnedEntry, changes: readonly PathChange[]): Promise<void> {
    const { host, roots } = this.#options;
    const watch = this.#watches.get(uri);
    if (!watch) return;
    const table = await roots.tableFor(watch.clientId, watch.creator.access);
    if (!suffices(table.accessTo(real), 'read')) {
      this.release(uri);
      return host.unsubscribeAll(uri);
    }
    const items = changes.map(({ path: file, type }) => {
      const below = path.relative(real, file);
      return { uri: below === '' ? rootUri : pathToFileURL(path.join(asked, below)).href, type };
    });
    if (host.isWatched(uri)) watch.channel.write({ type: 'resourceWatch/changed', changes: { items } });
  }

  /** From now on changes may be missed: reports the root as updated, so that subscribers read everything again. */
  #failed(uri: string, error: unknown): void {
    const { host } = this.#options;
    const watch = this.#watches.get(uri);
    if (!watch) return;
    if (!watch.isPartial) host.logger.log('warn', 'a watch no longer sees everything', { error: String(error) });
    watch.isPartial = true;
    const items = [{ uri: watch.channel.state.root, type: 'updated' as const }];
    if (host.isWatched(uri)) watch.channel.write({ type: 'resourceWatch/changed', changes: { items } });
  }
}

export interface ChangeFilter {
  /** Paths are relative to the root, with forward slashes. */
  isReported(relative: string): boolean;
  /** Whether a change inside a folder could be reported. */
  isEntered(relative: string): boolean;
}

export function changeFilter(excludes: WatchFilter | undefined, includes: WatchFilter | undefined): ChangeFilter {
  const out = [...globsOf(excludes, 'excludes'), ...(includes ? [] : CHURN)];
  const only = includes && globsOf(includes, 'includes');
  const isOut = (relative: string) => out.some((matches) => isIn(matches, relative));
  return {
    isReported: (relative) => !isOut(relative) && (!only || only.some((matches) => isIn(matches, relative))),
    isEntered: (relative) => !isOut(relative),
  };
}

/** A pattern that matches a folder matches everything in it. */
function isIn(matches: Glob, relative: string): boolean {
  for (let end = relative.length; end > 0; end = relative.lastIndexOf('/', end - 1)) {
    if (matches(relative.slice(0, end))) return true;
  }
  return false;
}

function globsOf(filter: WatchFilter | undefined, member: string): Glob[] {
  const items = filter?.items ?? [];
  if (items.length > WATCH_PATTERNS_MAX) throw invalid(`/${member} may have at most ${WATCH_PATTERNS_MAX} patterns`);
  return items.map((pattern) => globOf(pattern, member));
}

function globOf(pattern: string, member: string): Glob {
  if (pattern.length > WATCH_PATTERN_MAX_CHARACTERS) {
    throw invalid(`/${member}: a pattern may have at most ${WATCH_PATTERN_MAX_CHARACTERS} characters`);
  }
  try {
    return glob(pattern.replace(/\/+$/, ''));
  } catch (error) {
    throw error instanceof ToolFailure ? invalid(`/${member}: ${error.message}`) : error;
  }
}

const reduce = resourceWatchReducer as EphemeralChannelOptions<ResourceWatchState>['reduce'];

/** The list of sessions, open or not. It is small enough to be in memory whole, as text. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SessionLifecycle, SessionSummary } from '@atrium/protocol';
import type { Writer } from '../channels/writer.js';
import type { Log } from '../log/log.js';

export interface CatalogueEntry {
  readonly summary: SessionSummary;
  readonly lifecycle: SessionLifecycle;
  /** When it was disposed, in milliseconds since the epoch. */
  readonly disposedAt?: number;
}

interface Known {
  readonly provider: string;
  readonly lifecycle: SessionLifecycle;
  readonly disposedAt: number | undefined;
  /** Where it works, as a path of this machine. */
  readonly folder: string | undefined;
  /** The summary as JSON: a list is made of these without reading them. */
  readonly summaryText: string;
}

const SESSION = 'session:';
export class Catalogue {
  readonly #known = new Map<string, Known>();
  /** The folders of listed sessions; undefined when they have to be gathered anew. */
  #folders: ReadonlySet<string> | undefined;

  constructor(
    private readonly log: Log,
    private readonly writer: Writer,
  ) {}

  async load(): Promise<void> {
    for (const { key, value } of await this.log.records(SESSION)) {
      this.#remember(key.slice(SESSION.length), JSON.parse(value));
    }
  }

  #remember(uri: string, { summary, lifecycle, disposedAt }: CatalogueEntry): void {
    const summaryText = JSON.stringify(summary);
    const folder = summary.workingDirectory === undefined ? undefined : pathOf(summary.workingDirectory);
    const before = this.#known.get(uri);
    if (before?.folder !== folder || before?.disposedAt !== disposedAt) this.#folders = undefined;
    this.#known.set(uri, { provider: summary.provider, lifecycle, disposedAt, folder, summaryText });
  }

  /** The provider of a session, disposed or not. */
  providerOf(uri: string): string | undefined {
    return this.#known.get(uri)?.provider;
  }

  find(uri: string): CatalogueEntry | undefined {
    const known = this.#known.get(uri);
    if (!known) return undefined;
    const { lifecycle, disposedAt, summaryText } = known;
    return { summary: JSON.parse(summaryText), lifecycle, ...(disposedAt !== undefined && { disposedAt }) };
  }

  isListed(uri: string): boolean {
    const known = this.#known.get(uri);
    return known !== undefined && known.disposedAt === undefined;
  }

  /** The summaries of all listed sessions, as one JSON array. */
  listText(): string {
    return `[${this.#listed()
      .map(({ summaryText }) => summaryText)
      .join(',')}]`;
  }

  /** The folders of listed sessions, the latest first, as paths. */
  folders(): string[] {
    const summaries = this.#listed().map(({ summaryText }) => JSON.parse(summaryText) as SessionSummary);
    summaries.sort((a, b) => b.modifiedAt - a.modifiedAt);
    const uris = summaries.flatMap(({ project, workingDirectory }) => project?.uri ?? workingDirectory ?? []);
    return [...new Set(uris)].flatMap((uri) => pathOf(uri) ?? []);
  }

  /** All that are stored, disposed ones too. */
  stored(): string[] {
    return [...this.#known.keys()];
  }

  /** Where listed sessions work. The same object as long as that is the same. */
  workingFolders(): ReadonlySet<string> {
    this.#folders ??= new Set(this.#listed().flatMap(({ folder }) => (folder ? path.resolve(folder) : [])));
    return this.#folders;
  }

  get count(): number {
    return this.#listed().length;
  }

  #listed(): Known[] {
    return [...this.#known.values()].filter(({ disposedAt }) => disposedAt === undefined);
  }

  /** Disposed sessions, with when. */
  disposed(): { uri: string; at: number }[] {
    return [...this.#known].flatMap(([uri, { disposedAt: at }]) => (at === undefined ? [] : { uri, at }));
  }

  /** Notes a session as it is now, together with the actions of this tick. The list shows it once it is stored. */
  set(uri: string, entry: CatalogueEntry): void {
    this.writer.record({ key: SESSION + uri, value: JSON.stringify(entry) });
    this.writer.afterCommit(() => this.#remember(uri, entry));
  }

  remove(uri: string): void {
    this.writer.record({ key: SESSION + uri, value: null });
    this.writer.afterCommit(() => {
      this.#known.delete(uri);
      this.#folders = undefined;
    });
  }
}

function pathOf(uri: string): string | undefined {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : undefined;
  } catch {
    return undefined;
  }
}

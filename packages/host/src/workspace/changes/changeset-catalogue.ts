/** A session's catalogue: which views it has, and how much each of them shows. */

import path from 'node:path';
import type { Session } from '@atrium/core/sessions/session.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type { Changeset } from '@atrium/protocol/ahp-1';
import type { Shown } from './changeset-views.js';
import { turnTemplates, viewUri } from './uri.js';

export interface Counted {
  readonly session: Shown;
  /** Only for folders in a repository. */
  readonly uncommitted: readonly CountedFolder[];
}

export interface CountedFolder {
  /** The URI of the view. */
  readonly uri: string;
  /** Its path; undefined for the first folder of the session. */
  readonly folder: string | undefined;
  readonly shown: Shown;
}

export function catalogueOf(session: string, { session: ofSession, uncommitted }: Counted): Changeset[] {
  const { turn, between } = turnTemplates(session);
  const entries: Changeset[] = [
    ...uncommitted.map(({ uri, folder, shown }) => ({
      label: folder === undefined ? 'Uncommitted changes' : `Uncommitted changes in ${nameOf(folder, uncommitted)}`,
      changeKind: 'uncommitted' as const,
      uriTemplate: uri,
      description: `What differs from the last commit${folder === undefined ? '' : ` in ${folder}`}, no matter who changed it.`,
      ...countsOf(shown),
    })),
    {
      label: 'This session',
      changeKind: 'session',
      uriTemplate: viewUri(session, { kind: 'session' }),
      description: 'What the agent changed in all turns.',
      ...countsOf(ofSession),
    },
    { label: 'One turn', changeKind: 'turn', uriTemplate: turn, description: 'What the agent changed in one turn.' },
    {
      label: 'Between two turns',
      changeKind: 'compare-turns',
      uriTemplate: between,
      description: 'What the agent changed after one, up to another.',
    },
  ];
  return entries.map((entry) => ({ ...entry, capabilities: { review: {} } }));
}

/** The name of a folder, or its full path if another folder has the same name. */
function nameOf(folder: string, all: readonly CountedFolder[]): string {
  const name = path.basename(folder);
  const namesakes = all.filter((other) => other.folder !== undefined && path.basename(other.folder) === name);
  return namesakes.length > 1 ? folder : name;
}

/** Only the catalogue has these counts: a client that has the files can add them up. */
function countsOf({ files, problem }: Shown): Pick<Changeset, 'additions' | 'deletions' | 'files' | 'description'> {
  const diffs = files.map(({ file }) => file.edit.diff);
  return {
    additions: diffs.reduce((sum, diff) => sum + (diff?.added ?? 0), 0),
    deletions: diffs.reduce((sum, diff) => sum + (diff?.removed ?? 0), 0),
    files: files.length,
    ...(problem && { description: problem.message }),
  };
}

export interface CatalogueKeeperOptions {
  readonly session: Session;
  readonly logger: Logger;
  /** Undefined when there is no folder to count in. */
  count(): Promise<Counted | undefined>;
}

/** Keeps the catalogue of a session up to date: counts again when something changed, and writes only differences. */
export class CatalogueKeeper {
  #counting: Promise<void> | undefined;
  #isStale = false;
  #isOver = false;

  constructor(private readonly options: CatalogueKeeperOptions) {}

  /** Runs one count at a time, and another one if something changed meanwhile. */
  update(): Promise<void> {
    this.#isStale = true;
    this.#counting ??= this.#countUntilCurrent().finally(() => {
      this.#counting = undefined;
    });
    return this.#counting;
  }

  async #countUntilCurrent(): Promise<void> {
    while (this.#isStale && !this.#isOver) {
      this.#isStale = false;
      await this.#publish().catch((error) => this.#warn(error));
    }
  }

  async #publish(): Promise<void> {
    const { session, count } = this.options;
    const counted = await count();
    const changesets = counted && catalogueOf(session.uri, counted);
    const isKnown = JSON.stringify(changesets) === JSON.stringify(session.state.changesets);
    if (!this.#isOver && !isKnown) session.write({ type: 'session/changesetsChanged', changesets });
  }

  #warn(error: unknown): void {
    const { session, logger } = this.options;
    logger.log('warn', 'changes could not be counted', { session: session.uri, error: String(error) });
  }

  /** Waits for a count under way. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.#counting;
  }
}

/**
 * Changes in the folders of sessions, as channels: what is uncommitted, what a session's agent changed, what one of its
 * turns changed. This is the service that the host calls; `session-changes.ts` has the part of each session.
 */

import type { OpenChannel } from '@atrium/core/channels/open-channel.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { Work } from '@atrium/core/contracts/work.js';
import type { Service } from '@atrium/core/sessions/service.js';
import type { Session } from '@atrium/core/sessions/session.js';
import type { SessionObserver } from '@atrium/core/sessions/session-observer.js';
import type { Sessions } from '@atrium/core/sessions/sessions.js';
import {
  type ChangesetOperation,
  ErrorCode,
  type InvokeChangesetOperationParams,
  type InvokeChangesetOperationResult,
} from '@atrium/protocol/ahp-1';
import type { FolderTrust } from '../../plugins/trust/folder-trust.js';
import { GitError } from '../git/git.js';
import { type ChangeRecords, forgetChanges } from './change-log.js';
import { ChangeStorage } from './change-storage.js';
import { ChangeContents, type ContentPlace } from './changeset-contents.js';
import type { OperationTarget, Shown, View } from './changeset-views.js';
import { takenOverKey, takeOverJournal } from './legacy-journal.js';
import { reviewsKey } from './reviews.js';
import type { RewindFiles } from './rewind-files.js';
import { type ChangesHost, SessionChanges } from './session-changes.js';
import { CHANGESET_SCHEME, parseViewUri } from './uri.js';

export interface ChangesetsOptions {
  readonly host: ChangesHost & { readonly sessions: Pick<Sessions, 'open' | 'inMemory' | 'stored'> };
  readonly log: ChangeRecords['log'];
  /** The folder with the contents. */
  readonly folder: string;
  readonly trust: FolderTrust;
}

export class Changesets implements Service {
  readonly scheme = CHANGESET_SCHEME;
  readonly requests: Service['requests'];
  readonly lanes = { invokeChangesetOperation: 'aside' } as const;
  /** Reads the contents that views refer to. */
  readonly contents: ChangeContents;
  readonly #options: ChangesetsOptions;
  readonly #storage: ChangeStorage;
  readonly #records: ChangeRecords;
  readonly #sessions = new WeakMap<Session, SessionChanges>();
  #tidying: Promise<void> = Promise.resolve();

  constructor(options: ChangesetsOptions) {
    this.#options = options;
    this.#storage = new ChangeStorage(options.folder);
    this.#records = { log: options.log, writer: options.host.writer };
    this.contents = new ChangeContents((session) => this.#placeOf(session));
    this.requests = { invokeChangesetOperation: (_connection, params, work) => this.#invoke(params, work) };
  }

  readonly attach = (session: Session): SessionObserver => {
    const { host, trust } = this.#options;
    const isTrusted = (folder: string) => trust.isTrusted(folder);
    const changes = new SessionChanges(session, { host, storage: this.#storage, records: this.#records, isTrusted });
    this.#sessions.set(session, changes);
    return changes;
  };

  async start(): Promise<void> {
    const { sessions, logger } = this.#options.host;
    const warn = (error: unknown) => logger.log('warn', 'could not tidy up old changes', { error: String(error) });
    const { gone } = await this.#storage.dropSnapshots();
    this.#tidying = gone.catch(warn);
    const withFolder = await this.#storage.sweep(() => sessions.stored()).catch(warn);
    for (const session of withFolder ?? []) await this.#takeOver(session);
  }

  /** If a journal cannot be taken over now, opening its session tries again. */
  async #takeOver(session: string): Promise<void> {
    await takeOverJournal(this.#records, session, this.#storage.folderOf(session)).catch((error) => {
      const { logger } = this.#options.host;
      logger.log('warn', 'could not take over the journal of changes', { session, error: String(error) });
    });
  }

  async close(): Promise<void> {
    await this.#tidying;
  }

  async forgotten(session: string): Promise<void> {
    await forgetChanges(this.#records, session);
    this.#records.writer.record({ key: takenOverKey(session), value: null });
    this.#records.writer.record({ key: reviewsKey(session), value: null });
    await this.#storage.forget(session);
  }

  async open(uri: string): Promise<OpenChannel | undefined> {
    return (await this.#find(uri))?.view.channel;
  }

  unwatched(uri: string): void {
    const { session } = parseViewUri(uri) ?? {};
    const present = session === undefined ? undefined : this.#options.host.sessions.inMemory.get(session);
    if (present) this.#sessions.get(present)?.release(uri);
  }

  async #find(uri: string): Promise<{ changes: SessionChanges; view: View } | undefined> {
    const parsed = parseViewUri(uri);
    const changes = parsed && (await this.#changesOf(parsed.session));
    const view = parsed && (await changes?.view(parsed.name));
    return changes && view && { changes, view };
  }

  async #changesOf(uri: string): Promise<SessionChanges | undefined> {
    const session = await this.#options.host.sessions.open(uri);
    return session && this.#sessions.get(session);
  }

  /** The part of a loaded session that puts files back. */
  rewindFilesOf(session: Session): RewindFiles | undefined {
    return this.#sessions.get(session)?.rewindFiles;
  }

  /** Files of a session changed outside of its turns, so its views are counted again. */
  changedIn(session: Session): void {
    void this.#sessions.get(session)?.refresh();
  }

  async #placeOf(session: string): Promise<ContentPlace | undefined> {
    return this.#changesOf(session);
  }

  async #invoke(
    { channel, operationId, target }: InvokeChangesetOperationParams,
    work: Work,
  ): Promise<InvokeChangesetOperationResult> {
    const { changes, view } = (await this.#find(channel)) ?? {};
    if (!changes || !view) throw unknownView(channel);
    // Only a view that is up to date knows its operations.
    await view.refresh();
    const { shown } = view;
    if (!shown) throw unknownView(channel);
    checkScope(operationOf(shown, operationId), target);
    const chosen = target && targetOf(shown, target);
    try {
      return { message: await view.run(operationId, chosen, work) };
    } catch (error) {
      throw error instanceof GitError ? new RequestError(ErrorCode.Conflict, error.message) : error;
    } finally {
      await view.refresh();
      void changes.refresh();
      // A client that waits for the answer then already has the question of a commit, and knows whose it is.
      await this.#options.host.writer.settled().catch(() => {});
    }
  }
}

function unknownView(uri: string): RequestError {
  return new RequestError(ErrorCode.NotFound, `there is no changeset ${uri}; the catalogue of the session names them`);
}

function operationOf({ operations }: Shown, id: string): ChangesetOperation {
  const operation = operations.find((other) => other.id === id);
  if (operation) return operation;
  const there = operations.map((other) => other.id).join(', ') || 'none';
  throw new RequestError(ErrorCode.InvalidParams, `/operationId: there is no ${id} now; there are: ${there}`);
}

/** Throws if the operation does not accept such a target, or needs one. */
export function checkScope({ id, scopes }: ChangesetOperation, target: InvokeChangesetOperationParams['target']): void {
  const scope = target?.kind ?? 'changeset';
  if (scopes.includes(scope)) return;
  const advice = target ? `it takes ${scopes.join(' or ')}` : 'it needs one';
  throw new RequestError(ErrorCode.InvalidParams, `/target: ${id} is not for a ${scope}: ${advice}`);
}

function targetOf({ files }: Shown, target: NonNullable<InvokeChangesetOperationParams['target']>): OperationTarget {
  const { resource, side } = target;
  const found = files.find(({ file: { id, edit } }) => {
    const sides = side ? [edit[side]?.uri] : [id, edit.after?.uri, edit.before?.uri];
    return sides.includes(resource);
  });
  if (!found) throw new RequestError(ErrorCode.InvalidParams, `/target/resource: ${resource} is not in this changeset`);
  if (target.kind !== 'range') return { paths: found.paths };
  return { paths: found.paths, lines: { side: side ?? 'after', range: target.range } };
}

/** The resource requests of clients: files of this machine, contents that the host refers to by URI, and watches. */

import type { Access as ConnectionAccess } from '@atrium/core/contracts/access.js';
import type { Caller } from '@atrium/core/contracts/ports.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { Service, ServiceRequests } from '@atrium/core/sessions/service.js';
import type { Session } from '@atrium/core/sessions/session.js';
import { RawJson } from '@atrium/core/util/json-parts.js';
import { ErrorCode, type ResourceListResult, type ResourceReadParams } from '@atrium/protocol/ahp-1';
import { AccessRequests, type AccessRequestsHost } from './access-requests.js';
import { ClientRoots, type DeclaredDirectory, Grants } from './client-roots.js';
import { copy, move, remove } from './copy-move-delete.js';
import { FileAccess, filePathOf } from './file-access.js';
import { type ContentReader, listFolder, readContent, readFile, resolveResource } from './read.js';
import { WATCH_SCHEME, Watches, type WatchesHost } from './watches.js';
import { makeFolder, writeFile } from './write.js';

/** The part of the host that resource requests use. */
export interface ResourcesHost extends AccessRequestsHost, WatchesHost {
  readonly sessions: AccessRequestsHost['sessions'] & {
    has(uri: string): boolean;
    /** The folders of all listed sessions. Returns the same object as long as the folders are the same. */
    workingFolders(): ReadonlySet<string>;
  };
  /** Absent when sessions of this host have no customizations. */
  readonly customizations: { declaredDirectories(): readonly DeclaredDirectory[] } | undefined;
}

export interface ResourcesOptions {
  readonly host: ResourcesHost;
  /** Folders below which clients may look for a place to work, as paths. */
  readonly browsed: readonly string[];
  /** Where the user keeps customizations for all projects. */
  readonly userFolder: string | undefined;
  /** The stores of contents that the host refers to by URI. */
  readonly readers: readonly ContentReader[];
  /** Real paths of the folders that a client is limited to; undefined for a client without limits. */
  foldersFor?(clientId: string, access?: ConnectionAccess): readonly string[] | undefined;
}

export class Resources implements Service {
  readonly scheme = WATCH_SCHEME;
  readonly requests: ServiceRequests;
  readonly lanes = {
    resourceRead: 'aside',
    resourceWrite: 'aside',
    resourceList: 'aside',
    resourceCopy: 'aside',
    resourceDelete: 'aside',
    resourceMove: 'aside',
    resourceResolve: 'aside',
    resourceMkdir: 'aside',
    createResourceWatch: 'aside',
    resourceRequest: 'free',
  } as const;
  readonly #readers: readonly ContentReader[];
  readonly #files: FileAccess;
  readonly #accessRequests: AccessRequests;
  readonly #watches: Watches;
  /** The access that people granted to single clients. */
  readonly grants: Grants;

  constructor({ host, browsed, userFolder, readers, foldersFor }: ResourcesOptions) {
    const grants = new Grants((session) => host.sessions.has(session));
    const workingFolders = () => host.sessions.workingFolders();
    const declared = () => host.customizations?.declaredDirectories() ?? [];
    const roots = new ClientRoots({
      ...{ clock: host.clock, grants, workingFolders, declared, browsed, userFolder },
      ...(foldersFor && { foldersFor }),
    });
    this.grants = grants;
    this.#readers = readers;
    this.#files = new FileAccess(roots);
    this.#accessRequests = new AccessRequests({ host, roots, grants });
    this.#watches = new Watches({ host, files: this.#files, roots });
    this.requests = this.#handlers(this.#files);
  }

  #handlers(files: FileAccess): ServiceRequests {
    return {
      resourceRead: (connection, params) => this.#read(connection, params),
      resourceWrite: async (connection, params) => {
        await writeFile(files, idOf(connection), params);
        return {};
      },
      resourceList: async (connection, { uri }) => asText(connection, await listFolder(files, idOf(connection), uri)),
      resourceCopy: async (connection, params) => {
        await copy(files, idOf(connection), params);
        return {};
      },
      resourceMove: async (connection, params) => {
        await move(files, idOf(connection), params);
        return {};
      },
      resourceDelete: async (connection, params) => {
        await remove(files, idOf(connection), params);
        return {};
      },
      resourceResolve: (connection, params) => resolveResource(files, idOf(connection), params),
      resourceMkdir: async (connection, { uri }) => {
        await makeFolder(files, idOf(connection), uri);
        return {};
      },
      resourceRequest: async (connection, params) => {
        await this.#accessRequests.request(connection, params);
        return {};
      },
      createResourceWatch: async (connection, params) => ({ channel: await this.#watches.create(connection, params) }),
    };
  }

  async #read(connection: Caller, params: ResourceReadParams) {
    const { uri } = params;
    const { access } = connection;
    const reader = this.#readers.find(({ scheme }) => uri.startsWith(scheme));
    if (!reader) return readFile(this.#files, idOf(connection), params);
    const isThere = !access.bounds || ((await reader.existsFor?.(access, uri)) ?? true);
    return readContent(isThere ? reader : { ...reader, read: async () => undefined }, params);
  }

  open(uri: string) {
    return this.#watches.open(uri);
  }

  unwatched(uri: string): void {
    this.#watches.release(uri);
  }

  left(connection: Caller): void {
    this.#accessRequests.left(connection);
    this.#watches.left(connection);
  }

  readonly attach = (session: Session) => ({
    close: async () => this.#accessRequests.sessionClosed(session),
  });

  async close(): Promise<void> {
    this.#watches.close();
  }
}

/** Writes many entries as JSON text at once if no dialect must translate them one by one. */
function asText({ sendsStoredJson }: Caller, { entries }: ResourceListResult): ResourceListResult {
  if (!sendsStoredJson) return { entries };
  return { entries: new RawJson(JSON.stringify(entries)) as unknown as ResourceListResult['entries'] };
}

function idOf({ identity }: Caller): string {
  if (identity) return identity.clientId;
  throw new RequestError(ErrorCode.InvalidRequest, 'the connection is closed');
}

/** The host's default directory, and the other configured folders. */
export function browsedFolders(defaultDirectory: string | undefined, more: readonly string[] = []): string[] {
  const first = defaultDirectory === undefined ? undefined : filePathOf(defaultDirectory);
  return [...(first && 'path' in first ? [first.path] : []), ...more];
}

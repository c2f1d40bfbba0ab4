/** The files of this machine and what is kept by reference, for clients: everything that the resource requests do. */
import { ErrorCode, type ResourceListResult, type ResourceReadParams } from '@atrium/protocol';
import type { HostCore } from '../../core/contracts/host-core.js';
import { RequestError } from '../../core/contracts/request-error.js';
import type { Service, ServiceRequests } from '../../core/contracts/service.js';
import type { Session } from '../../core/sessions/session.js';
import { RawJson } from '../../core/util/json-parts.js';
import type { Connection } from '../../core/wire/connection.js';
import { Asking } from './access-requests.js';
import { Granted, Grants } from './client-roots.js';
import { copy, move, remove } from './copy-move-delete.js';
import { filePathOf, Places } from './places.js';
import { type ContentReader, listFolder, readContent, readFile, resolveResource } from './read.js';
import { WATCH_SCHEME, Watches } from './watches.js';
import { makeFolder, writeFile } from './write.js';

export interface ResourcesParts {
  readonly core: HostCore;
  /** Folders below which clients may look for a place to work, as paths. */
  readonly browsed: readonly string[];
  /** Where the user keeps customizations for all projects. */
  readonly userFolder: string | undefined;
  /** Whoever keeps contents that the host hands out by reference. */
  readonly readers: readonly ContentReader[];
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
  readonly #places: Places;
  readonly #asking: Asking;
  readonly #watches: Watches;

  constructor({ core, browsed, userFolder, readers }: ResourcesParts) {
    const grants = new Grants((session) => core.sessions.has(session));
    const workingFolders = () => core.sessions.workingFolders();
    const declared = () => core.customizations?.declaredDirectories() ?? [];
    const granted = new Granted({ clock: core.clock, grants, workingFolders, declared, browsed, userFolder });
    this.#readers = readers;
    this.#places = new Places(granted);
    this.#asking = new Asking({ core, granted, grants });
    this.#watches = new Watches({ core, places: this.#places, granted });
    this.requests = this.#handlers(this.#places);
  }

  #handlers(places: Places): ServiceRequests {
    return {
      resourceRead: (connection, params) => this.#read(connection, params),
      resourceWrite: async (connection, params) => {
        await writeFile(places, idOf(connection), params);
        return {};
      },
      resourceList: async (connection, { uri }) => asText(connection, await listFolder(places, idOf(connection), uri)),
      resourceCopy: async (connection, params) => {
        await copy(places, idOf(connection), params);
        return {};
      },
      resourceMove: async (connection, params) => {
        await move(places, idOf(connection), params);
        return {};
      },
      resourceDelete: async (connection, params) => {
        await remove(places, idOf(connection), params);
        return {};
      },
      resourceResolve: (connection, params) => resolveResource(places, idOf(connection), params),
      resourceMkdir: async (connection, { uri }) => {
        await makeFolder(places, idOf(connection), uri);
        return {};
      },
      resourceRequest: async (connection, params) => {
        await this.#asking.request(connection, params);
        return {};
      },
      createResourceWatch: async (connection, params) => ({ channel: await this.#watches.create(connection, params) }),
    };
  }

  #read(connection: Connection, params: ResourceReadParams) {
    const reader = this.#readers.find(({ scheme }) => params.uri.startsWith(scheme));
    return reader ? readContent(reader, params) : readFile(this.#places, idOf(connection), params);
  }

  open(uri: string) {
    return this.#watches.open(uri);
  }

  unwatched(uri: string): void {
    this.#watches.release(uri);
  }

  left(connection: Connection): void {
    this.#asking.left(connection);
    this.#watches.left(connection);
  }

  readonly attach = (session: Session) => ({
    close: async () => this.#asking.sessionClosed(session),
  });

  async close(): Promise<void> {
    this.#watches.close();
  }
}

/** Many entries are written as text at once, where nobody has to look at each of them again. */
function asText({ dialect }: Connection, { entries }: ResourceListResult): ResourceListResult {
  if (!dialect.traits.takesText) return { entries };
  return { entries: new RawJson(JSON.stringify(entries)) as unknown as ResourceListResult['entries'] };
}

function idOf({ identity }: Connection): string {
  if (identity) return identity.clientId;
  throw new RequestError(ErrorCode.InvalidRequest, 'the connection is closed');
}

/** Where people begin to look for a folder, and what else the host was told of. */
export function browsedFolders(defaultDirectory: string | undefined, more: readonly string[] = []): string[] {
  const first = defaultDirectory === undefined ? undefined : filePathOf(defaultDirectory);
  return [...(first && 'path' in first ? [first.path] : []), ...more];
}

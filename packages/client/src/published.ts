/** Content that only this client can read, such as a plugin under a `virtual:` URI, served to the host. */
import { type DirectoryEntry, ErrorCode } from '@atrium/protocol';
import { RequestError } from './errors.js';
import type { HostRequestHandlers } from './host-requests.js';

/** Text by URI. Folders follow from the slashes; nothing else can be read, and nothing written. */
export type PublishedFiles = Readonly<Record<string, string>> | ReadonlyMap<string, string>;

/** Handlers for `resourceRead` and `resourceList`: `connect({ handlers: serveResources(files) })`. */
export function serveResources(files: PublishedFiles): Pick<HostRequestHandlers, 'resourceRead' | 'resourceList'> {
  const byUri = new Map(files instanceof Map ? files : Object.entries(files));
  return {
    resourceRead: ({ uri }) => {
      const data = byUri.get(uri);
      if (data === undefined) throw notPublished(uri);
      return { data, encoding: 'utf-8' };
    },
    resourceList: ({ uri }) => {
      const entries = childrenOf(byUri.keys(), uri.endsWith('/') ? uri : `${uri}/`);
      if (entries.length === 0) throw notPublished(uri);
      return { entries };
    },
  };
}

function notPublished(uri: string): RequestError {
  return new RequestError(ErrorCode.NotFound, `This client publishes nothing at ${uri}.`);
}

function childrenOf(uris: Iterable<string>, folder: string): DirectoryEntry[] {
  const entries = new Map<string, DirectoryEntry>();
  for (const uri of uris) {
    if (!uri.startsWith(folder)) continue;
    const [name = '', ...below] = uri.slice(folder.length).split('/');
    entries.set(name, { name, type: below.length > 0 ? 'directory' : 'file' });
  }
  return [...entries.values()];
}

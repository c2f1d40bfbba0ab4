/** Answers the requests that the host sends to this client. */
import type { Log } from '@atrium/link';
import { type DirectoryEntry, ErrorCode, type HostRequestMethod, type HostRequests } from '@atrium/protocol/ahp-1';
import { checkHostRequest, describeProblem, isHostRequest } from '@atrium/protocol/ahp-1/from-host';
import { RequestError } from './errors.js';
import type { Answer } from './peer.js';

type Handler<M extends HostRequestMethod> = (
  params: HostRequests[M]['params'],
) => HostRequests[M]['result'] | Promise<HostRequests[M]['result']>;

/**
 * Handlers by method. Throw a `RequestError` to refuse: `-32009` for forbidden, `-32008` for not found. The client
 * answers methods without a handler with "method not found".
 */
export type HostRequestHandlers = { readonly [M in HostRequestMethod]?: Handler<M> };

export async function answer(
  handlers: HostRequestHandlers,
  method: string,
  params: unknown,
  log: Log,
): Promise<Answer> {
  const handler = isHostRequest(method) ? (handlers[method] as Handler<HostRequestMethod> | undefined) : undefined;
  if (!isHostRequest(method) || !handler)
    return failure(ErrorCode.MethodNotFound, `This client does not answer ${method}.`);
  const checked = checkHostRequest(method, params);
  if (!checked.ok) return failure(ErrorCode.InvalidParams, `${method}: ${describeProblem(checked.problem)}.`);
  try {
    return { result: await handler(checked.value) };
  } catch (error) {
    if (error instanceof RequestError) return failure(error.code, error.message, error.data);
    log(`the handler of ${method} threw`, error);
    return failure(ErrorCode.InternalError, `The client failed to answer ${method}.`);
  }
}

function failure(code: number, message: string, data?: unknown): Answer {
  return { error: data === undefined ? { code, message } : { code, message, data } };
}

/** Text by URI. Folders follow from the slashes; nothing else can be read, and nothing written. */
export type PublishedFiles = Readonly<Record<string, string>> | ReadonlyMap<string, string>;

/**
 * Serves content that only this client can read, such as a plugin under a `virtual:` URI:
 * `connect({ handlers: serveResources(files) })`.
 */
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

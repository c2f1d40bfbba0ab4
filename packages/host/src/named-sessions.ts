/** Which session a URI belongs to by its name alone, and how folders of a session are named in texts. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { namedInput } from '@atrium/core/tool-calls/input-references.js';
import { pathOfUri } from '@atrium/core/util/folders.js';
import { channelKind, type SessionSummary } from '@atrium/protocol/ahp-1';
import { CONTENT_SCHEME, parseViewUri, sessionOf } from './workspace/changes/uri.js';

export interface NamedSession {
  readonly session?: string | undefined;
  /** It belongs to a chat; the session is that of the chat. */
  readonly chat?: string | undefined;
}

/** The session or the chat that a channel or a content is about; nothing for other URIs. */
export function namedIn(uri: string): NamedSession {
  const kind = channelKind(uri);
  if (kind === 'chat') return { chat: uri };
  if (kind === 'changeset') return { session: parseViewUri(uri)?.session };
  if (kind === 'annotations') return { session: uri.slice(0, -'/annotations'.length) };
  if (uri.startsWith(`${CONTENT_SCHEME}/`)) {
    const [key = ''] = uri.slice(CONTENT_SCHEME.length + 1).split('/');
    return { session: sessionOf(key) };
  }
  return { chat: namedInput(uri)?.chat };
}

/** Segments of a path from which on it tells whose it is: `/home` does not, `/home/ada` does. */
const TELLING_SEGMENTS = 2;

/** The folders of a session and those above them, as paths and as URIs. */
export function namesOfFolders(summary: Pick<SessionSummary, 'workingDirectories' | 'project'> | undefined): string[] {
  const uris = [...(summary?.workingDirectories ?? []), ...(summary?.project ? [summary.project.uri] : [])];
  const folders = uris.flatMap((uri) => pathOfUri(uri) ?? []);
  const all = folders.flatMap(upwards);
  return [...new Set([...all.map((folder) => pathToFileURL(folder).href), ...all])];
}

function upwards(folder: string): string[] {
  const above = path.dirname(folder);
  const isTelling = folder.split(path.sep).filter((name) => name !== '').length >= TELLING_SEGMENTS;
  return isTelling && above !== folder ? [folder, ...upwards(above)] : [];
}

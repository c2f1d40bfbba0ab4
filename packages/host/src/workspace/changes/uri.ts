/** How views and contents are named: `ahp-changeset:/<session>/turn/<turn>`, `atrium-changes:/<session>/<hash>`. */

export const CHANGESET_SCHEME = 'ahp-changeset:';
export const CONTENT_SCHEME = 'atrium-changes:';

const SESSION = 'ahp-session:/';
const PLAIN_ID = /^[A-Za-z0-9\-._~]+$/;

export type ViewName =
  /** `folder` is the real path of a folder of the session; absent for the first. */
  | { readonly kind: 'uncommitted'; readonly folder?: string }
  | { readonly kind: 'session' }
  | { readonly kind: 'turn'; readonly turnId: string }
  /** From the end of one turn to the end of another. */
  | { readonly kind: 'between'; readonly original: string; readonly modified: string };

/** The session's id for use in another URI. Most ids can be used unchanged. */
export function keyOf(session: string): string {
  const id = session.slice(SESSION.length);
  return session.startsWith(SESSION) && PLAIN_ID.test(id) ? id : encodeURIComponent(session);
}

export function sessionOf(key: string): string | undefined {
  const text = decoded(key);
  if (text === undefined || text === '') return undefined;
  return text.includes(':') ? text : SESSION + text;
}

export function viewUri(session: string, name: ViewName): string {
  return `${CHANGESET_SCHEME}/${keyOf(session)}/${pathOf(name)}`;
}

function pathOf(name: ViewName): string {
  if (name.kind === 'turn') return `turn/${encodeURIComponent(name.turnId)}`;
  if (name.kind === 'between') return `turns/${encodeURIComponent(name.original)}/${encodeURIComponent(name.modified)}`;
  if (name.kind === 'uncommitted' && name.folder !== undefined) return `uncommitted/${encodeURIComponent(name.folder)}`;
  return name.kind;
}

/** The templates of the views that take turns as parameters. */
export function turnTemplates(session: string): { readonly turn: string; readonly between: string } {
  const base = `${CHANGESET_SCHEME}/${keyOf(session)}`;
  return { turn: `${base}/turn/{turnId}`, between: `${base}/turns/{originalTurnId}/{modifiedTurnId}` };
}

/** Undefined for a name that is no view, or that is not spelled as the templates spell it. */
export function parseViewUri(uri: string): { readonly session: string; readonly name: ViewName } | undefined {
  const [key = '', ...rest] = uri.slice(`${CHANGESET_SCHEME}/`.length).split('/');
  const session = sessionOf(key);
  const name = nameOf(rest);
  return session !== undefined && name && viewUri(session, name) === uri ? { session, name } : undefined;
}

function nameOf(parts: readonly string[]): ViewName | undefined {
  const [kind, first, second] = [parts[0], ...parts.slice(1).map(decoded)];
  if (parts.length === 1 && (kind === 'uncommitted' || kind === 'session')) return { kind };
  if (parts.length === 2 && kind === 'uncommitted' && first) return { kind, folder: first };
  if (parts.length === 2 && kind === 'turn' && first) return { kind, turnId: first };
  if (parts.length === 3 && kind === 'turns' && first && second) {
    return { kind: 'between', original: first, modified: second };
  }
  return undefined;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
